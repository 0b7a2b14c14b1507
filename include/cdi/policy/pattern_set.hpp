// `PatternSet`: the patterns of one list of a policy, ready for many texts.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_POLICY_PATTERN_SET_HPP
#define CDI_POLICY_PATTERN_SET_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/policy/pattern.hpp>
#include <cdi/policy/policy.hpp>
#include <cdi/rules/prefixes.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The patterns of a list. A text is compared only with the patterns whose part before the first
/// `*` the text begins with; a binary search finds a pattern without `*`.
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

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_POLICY_PATTERN_SET_HPP
