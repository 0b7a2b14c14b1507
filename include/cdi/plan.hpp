// Device edits as data, and what they would change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_HPP
#define CDI_PLAN_HPP

// IWYU pragma: begin_exports
#include <cdi/plan/change_origin.hpp>
#include <cdi/plan/plan.hpp>
// IWYU pragma: end_exports

#endif  // CDI_PLAN_HPP
