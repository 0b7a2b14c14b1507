// Groups messages that say the same about several places.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_SAME_MESSAGES_HPP
#define CDI_TOOLS_CDI_BASE_SAME_MESSAGES_HPP

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>

/// Messages that differ only in their place in a file and in quoted text, represented by the first.
struct SameMessages {
  cdi::Error first{};
  std::size_t count = 1;
  bool differs = false;  // in quoted text
};

/// A text without its parts in double quotes.
inline std::string without_quotes(std::string_view text) {
  std::string out;
  for (bool inside = false; const char c : text) {
    if (c == '"') inside = !inside;
    if (!inside) out += c;
  }
  return out;
}

/// Groups messages, in the order of the first of each group.
inline std::vector<SameMessages> same_messages(const std::vector<cdi::Error>& messages) {
  std::vector<SameMessages> groups;
  std::map<std::string, std::size_t, std::less<>> known;
  for (const auto& message : messages) {
    const auto key = message.position.file + "\n" + std::string{message.rule} + "\n" +
                     without_quotes(message.message) + "\n" + without_quotes(message.advice);
    const auto [at, is_new] = known.emplace(key, groups.size());
    if (is_new) {
      groups.push_back({.first = message});
      continue;
    }
    auto& group = groups[at->second];
    ++group.count;
    group.differs = group.differs || message.message != group.first.message ||
                    message.advice != group.first.advice;
  }
  return groups;
}

#endif  // CDI_TOOLS_CDI_BASE_SAME_MESSAGES_HPP
