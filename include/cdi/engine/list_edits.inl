// The bodies of <cdi/engine/list_edits.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_LIST_EDITS_INL
#define CDI_ENGINE_LIST_EDITS_INL

#include <cstddef>

#include <cdi/engine/list_edits.hpp>
#include <cdi/engine/list_plan.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

CDI_INLINE void plan_env(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) plan.replace_last_or_append(i);
  plan.finish();
}

CDI_INLINE void plan_devices(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    if (plan.keeps_entries(i)) continue;
    plan.remove_first(i);
    plan.replace_first_or_append(i);
  }
  plan.finish();
}

CDI_INLINE void plan_mounts(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    if (plan.keeps_entries(i)) continue;
    plan.remove_first(i);
    plan.append(i);
  }
  plan.finish(/*by_depth=*/true);
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_ENGINE_LIST_EDITS_INL
