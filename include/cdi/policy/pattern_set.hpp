// Patterns of a policy, and `PatternSet`: a list of patterns, prepared for many texts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_PATTERN_SET_HPP
#define CDI_POLICY_PATTERN_SET_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/policy/policy.hpp>
#include <cdi/rules/prefixes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns whether a pattern matches a whole text; each `*` stands for any text, even empty text.
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

/// Removes and returns the first part of a clean absolute path; returns empty text at the end.
inline std::string_view take_element(std::string_view& path) {
  if (path.empty()) return path;
  path.remove_prefix(1);
  const auto element = path.substr(0, path.find('/'));
  path.remove_prefix(element.size());
  return element;
}

/// Returns whether a pattern matches an absolute path or one of its parent directories. `*` stands
/// for any text without a slash. Both must be clean (`clean_path`); links are not followed.
inline bool matches_path(std::string_view pattern, std::string_view path) {
  for (auto element = take_element(pattern); !element.empty(); element = take_element(pattern)) {
    const auto found = take_element(path);
    if (found.empty() || !matches(element, found)) return false;
  }
  return true;
}

/// The patterns of a list. A text is compared only with patterns whose part before the first `*` is
/// a prefix of the text; a binary search finds a pattern without `*`.
class PatternSet {
 public:
  /// What the patterns match.
  enum class Kind : std::uint8_t {
    names,  ///< names: see `matches`
    paths,  ///< paths, which need not be clean: see `matches_path`
  };

  PatternSet(const OptionalTexts& list, Kind kind) : kind_{kind}, covers_all_{!list} {
    if (!list) return;
    std::vector<std::string> heads;
    for (const auto& written : *list) {
      if (kind == Kind::names && written == "*") covers_all_ = true;
      if (kind == Kind::paths && !written.starts_with('/')) continue;
      auto pattern = kind == Kind::paths ? clean_path(written) : written;
      const auto star = pattern.find('*');
      heads.push_back(star == std::string::npos ? ended(pattern) : pattern.substr(0, star));
      patterns_.push_back(std::move(pattern));
    }
    heads_ = Prefixes{std::move(heads)};
  }

  /// Returns whether the list is absent, or is a list of names with the pattern `*`.
  bool covers_all() const { return covers_all_; }
  /// Returns whether one of the patterns matches a text.
  bool covers(std::string_view text) const {
    if (covers_all_) return true;
    if (kind_ == Kind::paths && !text.starts_with('/')) return false;
    const auto path = kind_ == Kind::paths ? clean_path(text) : std::string{};
    if (kind_ == Kind::paths) text = path;
    const auto match = kind_ == Kind::paths ? matches_path : matches;
    return heads_.any(ended(text), [&](std::size_t i) { return match(patterns_[i], text); });
  }

 private:
  /// Appends a terminator, so that only an equal text, or a path inside this directory, begins with
  /// the result.
  std::string ended(std::string_view text) const {
    std::string out{text};
    if (kind_ == Kind::names) return out.append(1, '\0');
    return text == "/" ? out : out.append("/");
  }

  Kind kind_;
  bool covers_all_;
  std::vector<std::string> patterns_{};
  Prefixes heads_{};  // for each pattern, the text before its first `*`
};

}  // namespace cdi::detail

#endif  // CDI_POLICY_PATTERN_SET_HPP
