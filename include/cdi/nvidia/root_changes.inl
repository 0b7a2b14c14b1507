// The bodies of <cdi/nvidia/root_changes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_ROOT_CHANGES_INL
#define CDI_NVIDIA_ROOT_CHANGES_INL

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/nvidia/root_changes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Keeps only the last of several items that are equal under `less`, in the place of the first.
/// `less` orders two items.
template <class Item, class Less>
void keep_last(std::vector<Item>& items, const Less& less) {
  const auto first = detail::first_of_equals(
      items.size(), [&](std::size_t a, std::size_t b) { return less(items[a], items[b]); });
  std::vector<std::size_t> place(items.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    place[i] = first[i] == i ? kept++ : place[first[i]];
    if (place[i] != i) items[place[i]] = std::move(items[i]);
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
}

/// Keeps only the last of several items with equal paths.
template <class Item>
void keep_last_of_path(std::vector<Item>& items) {
  keep_last(items, [](const Item& a, const Item& b) { return a.path < b.path; });
}

template <class Item>
void append(std::vector<Item>& all, const std::vector<Item>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

/// Appends all changes, even repeated ones.
inline void append(RootChanges& all, const RootChanges& some) {
  detail::append(all.links, some.links);
  detail::append(all.modes, some.modes);
  detail::append(all.files, some.files);
  detail::append(all.cuda_compat, some.cuda_compat);
  detail::append(all.library_folders, some.library_folders);
  all.masked_params = all.masked_params || some.masked_params;
}

/// Removes repeated changes, and all but the last change to each path.
inline void remove_repeated(RootChanges& changes) {
  detail::keep_last_of_path(changes.links);
  detail::keep_last_of_path(changes.modes);
  detail::keep_last_of_path(changes.files);
  detail::keep_last(changes.cuda_compat, [](const CudaCompat& a, const CudaCompat& b) {
    const auto members = [](const CudaCompat& compat) {
      return std::tie(compat.folder, compat.host_driver_version, compat.host_cuda_version);
    };
    return members(a) < members(b);
  });
  detail::keep_last(changes.library_folders,
                    [](const std::string& a, const std::string& b) { return a < b; });
}

}  // namespace detail

CDI_INLINE void merge(RootChanges& all, const RootChanges& some) {
  detail::append(all, some);
  detail::remove_repeated(all);
}

}  // namespace cdi

#endif  // CDI_NVIDIA_ROOT_CHANGES_INL
