// `find_origin`: the edit of a plan that makes a change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_CHANGE_ORIGIN_HPP
#define CDI_PLAN_CHANGE_ORIGIN_HPP

#include <cdi/plan/change.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns the origin of the edit that makes a change, such as one that `Plan::apply` returns: the
/// last edit of the changed entry. Null if no edit is about the entry: a mount of the config that
/// only moves. Valid as long as the plan. Costs a pass over the edits of one kind.
const Origin* find_origin(const Plan& plan, const Change& change);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/change_origin.inl>
#endif

#endif  // CDI_PLAN_CHANGE_ORIGIN_HPP
