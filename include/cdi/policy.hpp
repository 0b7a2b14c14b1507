// Policy: which devices may be injected, and what their edits may do.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_HPP
#define CDI_POLICY_HPP

#include <cdi/policy/decision.hpp>  // IWYU pragma: export
#include <cdi/policy/policy.hpp>    // IWYU pragma: export

#endif  // CDI_POLICY_HPP
