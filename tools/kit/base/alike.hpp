// Merges lines that say the same about many things, such as all GPUs of a node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.hpp"

namespace tools {

/// A text without the words that contain digits, which are names, paths and addresses of single
/// devices.
inline std::string without_numbers(std::string_view text) {
  std::string out;
  for (const auto& word : split(text, " ")) {
    if (word.find_first_of("0123456789") == std::string::npos) out.append(word).append(" ");
  }
  return out;
}

/// The items of a list to show, each with the number of further items like it, which have the same
/// nonempty key. Two such items are both shown.
template <class Item, class KeyOf>
std::vector<std::pair<const Item*, std::size_t>> shown_of_alike(const std::vector<Item>& list,
                                                                KeyOf key_of) {
  std::map<std::string, std::vector<const Item*>, std::less<>> groups;
  for (const auto& item : list) groups[key_of(item)].push_back(&item);
  std::vector<std::pair<const Item*, std::size_t>> out;
  for (const auto& item : list) {
    const auto& group = groups.find(key_of(item))->second;
    if (group.size() < 3 || key_of(item).empty()) {
      out.emplace_back(&item, 0);
    } else if (group.front() == &item) {
      out.emplace_back(&item, group.size() - 1);
    }
  }
  return out;
}

/// The note after a text that also stands for others.
inline std::string and_more_alike(std::size_t more) {
  return more == 0 ? std::string{} : " (and " + std::to_string(more) + " more like it)";
}

}  // namespace tools
