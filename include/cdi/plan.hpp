// Device edits as data, what they would change, and where they overlap.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_HPP
#define CDI_PLAN_HPP

#include <cdi/plan/overlaps.hpp>  // IWYU pragma: export
#include <cdi/plan/plan.hpp>      // IWYU pragma: export

#endif  // CDI_PLAN_HPP
