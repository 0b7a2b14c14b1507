// The bodies of <cdi/apply/list_edits.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_LIST_EDITS_INL
#define CDI_APPLY_LIST_EDITS_INL

#include <cdi/apply/list_edits.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE void merge_env(ListMerge& merge, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) merge.replace_last_or_append(i);
  merge.finish();
}

CDI_INLINE void merge_devices(ListMerge& merge, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    if (merge.keeps_entries(i)) continue;
    merge.remove_first(i);
    merge.replace_first_or_append(i);
  }
  merge.finish();
}

CDI_INLINE void merge_mounts(ListMerge& merge, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    if (merge.keeps_entries(i)) continue;
    merge.remove_first(i);
    merge.append(i);
  }
  merge.finish(/*by_depth=*/true);
}

}  // namespace cdi::detail

#endif  // CDI_APPLY_LIST_EDITS_INL
