// Claims: devices given to workloads, recorded in a journal, with a spec file for each claim.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_HPP
#define CDI_CLAIMS_HPP

#include <cdi/claims/claim.hpp>          // IWYU pragma: export
#include <cdi/claims/claim_driver.hpp>   // IWYU pragma: export
#include <cdi/claims/claim_journal.hpp>  // IWYU pragma: export
#include <cdi/claims/claim_json.hpp>     // IWYU pragma: export
#include <cdi/claims/claims.hpp>         // IWYU pragma: export

#endif  // CDI_CLAIMS_HPP
