// Finds the list items that an injection added to an OCI runtime spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_LIST_CHANGES_HPP
#define CDI_TOOLS_NRI_LIST_CHANGES_HPP

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/oci.hpp>

namespace nri::detail {

inline std::string_view key_of(const std::string& variable) {
  return std::string_view{variable}.substr(0, variable.find('='));
}
inline std::string_view key_of(const cdi::oci::Hook& hook) {
  return hook.path;
}
inline std::string_view key_of(const cdi::oci::Mount& mount) {
  return mount.destination;
}
inline std::string_view key_of(const cdi::oci::LinuxDevice& device) {
  return device.path;
}
inline std::string_view key_of(const cdi::oci::LinuxDeviceCgroup& rule) {
  return rule.access;
}

// A pod chooses its many variables and mounts, and could make them collide in a hash table.

/// The items of a list that were not in its earlier state.
template <class Item>
std::vector<const Item*> added(const std::vector<Item>& before, const std::vector<Item>& after) {
  std::multimap<std::string_view, const Item*> known;
  for (const auto& item : before) known.emplace(key_of(item), &item);
  std::vector<const Item*> items;
  for (const auto& item : after) {
    const auto [from, to] = known.equal_range(key_of(item));
    const auto is_same = [&item](const auto& one) {
      return *one.second == item;
    };
    if (std::none_of(from, to, is_same)) items.push_back(&item);
  }
  return items;
}

/// The items that replaced others with the same key. If a key is repeated, the last item counts.
template <class Item>
std::vector<const Item*> replaced(const std::vector<Item>& before, const std::vector<Item>& after) {
  const auto last_of = [](const std::vector<Item>& list) {
    std::map<std::string_view, const Item*> last;
    for (const auto& item : list) last.insert_or_assign(key_of(item), &item);
    return last;
  };
  const auto old = last_of(before);
  const auto last = last_of(after);
  std::vector<const Item*> items;
  for (const auto& item : after) {
    if (last.at(key_of(item)) != &item) continue;
    const auto found = old.find(key_of(item));
    if (found == old.end() || !(*found->second == item)) items.push_back(&item);
  }
  return items;
}

}  // namespace nri::detail

#endif  // CDI_TOOLS_NRI_LIST_CHANGES_HPP
