// Patterns of names and of paths, in which `*` is any text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_PATTERN_HPP
#define CDI_RULES_PATTERN_HPP

#include <cstddef>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Whether a text matches a pattern as a whole; each `*` is any text, also an empty one. Costs at
/// most the product of both sizes.
inline bool matches(std::string_view pattern, std::string_view text) {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;  // the last one, and where its text ends
  std::size_t star_end = 0;
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      star_end = in_text;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[in_text]) {
      ++in_pattern;
      ++in_text;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      in_text = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

/// Takes the first part of a clean path that begins with a slash; empty at its end.
inline std::string_view take_element(std::string_view& path) {
  if (path.empty()) return path;
  path.remove_prefix(1);
  const auto element = path.substr(0, path.find('/'));
  path.remove_prefix(element.size());
  return element;
}

/// Whether an absolute path matches a pattern, or is below a directory that does. In the pattern,
/// `*` is any text without a slash. Both are as `clean_path` makes them; links are not followed.
inline bool matches_path(std::string_view pattern, std::string_view path) {
  for (auto element = take_element(pattern); !element.empty(); element = take_element(pattern)) {
    const auto found = take_element(path);
    if (found.empty() || !matches(element, found)) return false;
  }
  return true;
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_PATTERN_HPP
