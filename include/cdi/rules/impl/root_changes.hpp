// The bodies of <cdi/rules/root_changes.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_ROOT_CHANGES_HPP
#define CDI_RULES_IMPL_ROOT_CHANGES_HPP

#include <vector>

#include <cdi/rules/root_changes.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Adds the items of a list that another does not have.
template <class Item>
void add_new(std::vector<Item>& all, const std::vector<Item>& some) {
  for (const auto& item : some) {
    bool known = false;
    for (const auto& other : all) known = known || other == item;
    if (!known) all.push_back(item);
  }
}

/// Adds items; one with the path of another takes its place.
template <class Item>
void replace_by_path(std::vector<Item>& all, const std::vector<Item>& some) {
  for (const auto& item : some) {
    Item* found = nullptr;
    for (auto& other : all) {
      if (other.path == item.path) found = &other;
    }
    if (found != nullptr) {
      *found = item;
    } else {
      all.push_back(item);
    }
  }
}

}  // namespace detail

CDI_INLINE void merge(RootChanges& all, const RootChanges& some) {
  detail::replace_by_path(all.links, some.links);
  detail::replace_by_path(all.modes, some.modes);
  detail::replace_by_path(all.files, some.files);
  detail::add_new(all.cuda_compat, some.cuda_compat);
  detail::add_new(all.library_folders, some.library_folders);
  all.masked_params = all.masked_params || some.masked_params;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_ROOT_CHANGES_HPP
