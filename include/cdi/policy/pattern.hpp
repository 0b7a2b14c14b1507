// Patterns for names and paths, in which `*` stands for any text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_POLICY_PATTERN_HPP
#define CDI_POLICY_PATTERN_HPP

#include <cstddef>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Returns whether a pattern matches a whole text; each `*` stands for any text, even an empty one.
inline bool matches(std::string_view pattern, std::string_view text) {
  auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (star = pattern.find('*'); star != std::string_view::npos; star = pattern.find('*')) {
    const auto at = text.find(pattern.substr(0, star));  // the first match leaves the most text
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + star);
    pattern.remove_prefix(star + 1);
  }
  return text.ends_with(pattern);
}

/// Takes the first part off a clean path that begins with a slash; returns empty text at the end.
inline std::string_view take_element(std::string_view& path) {
  if (path.empty()) return path;
  path.remove_prefix(1);
  const auto element = path.substr(0, path.find('/'));
  path.remove_prefix(element.size());
  return element;
}

/// Returns whether a pattern matches an absolute path or one of its parent directories. `*` stands
/// for any text without a slash. Both are in the form of `clean_path`; links are not followed.
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

#endif  // CDI_POLICY_PATTERN_HPP
