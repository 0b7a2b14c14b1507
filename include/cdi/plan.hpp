// The edits of devices as plain data, what they would change in an OCI spec, and their overlaps.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_HPP
#define CDI_PLAN_HPP

#include <cdi/files/plan.hpp>  // IWYU pragma: export

#endif  // CDI_PLAN_HPP
