// The owner and options that cdi-prepare records in its specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_SHARED_CDI_SPECS_RECORDED_OPTIONS_HPP
#define CDI_TOOLS_SHARED_CDI_SPECS_RECORDED_OPTIONS_HPP

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/spec.hpp>

#include "../base/text.hpp"

namespace tools {

/// The owner recorded in the files of cdi-prepare.
inline constexpr const char* spec_owner = "cdi-prepare";

/// The annotation with the options that determine the content of a spec.
inline constexpr std::string_view options_annotation = "cdi-prepare/options";
static_assert(cdi::is_annotation_key(options_annotation));

/// The values of the option `--profile`.
inline constexpr std::array<std::string_view, 4> profile_names{"compute", "graphics", "video",
                                                               "all"};

/// Whether a word is one that cdi-prepare records.
inline bool is_option_word(std::string_view word) {
  for (const auto known : {"hooks=none", "hooks=nvidia", "node-numbers=asked", "node-numbers=given",
                           "ld-library-path", "nvml", "visible-only"}) {
    if (word == known) return true;
  }
  const auto value = word.substr(std::min(word.find('=') + 1, word.size()));
  if (word.starts_with("profile=")) {
    return std::any_of(profile_names.begin(), profile_names.end(),
                       [&](std::string_view name) { return name == value; });
  }
  const auto version = cdi::parse_spec_version(value);
  return word.starts_with("max-version=") && version && *version >= cdi::SpecVersion{0, 3, 0} &&
         cdi::to_string(*version) == value;
}

/// The option words recorded in a spec, such as `profile=all`. Unknown words, which only another
/// program can have written, and repeated options are left out.
inline std::vector<std::string> recorded_options(const cdi::Spec& spec) {
  const auto recorded = spec.annotations.find(std::string{options_annotation});
  if (recorded == spec.annotations.end()) return {};
  std::vector<std::string> words;
  std::set<std::string> names;
  for (auto& word : split(recorded->second, " ")) {
    if (!is_option_word(word) || !names.insert(word.substr(0, word.find('='))).second) continue;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace tools

#endif  // CDI_TOOLS_SHARED_CDI_SPECS_RECORDED_OPTIONS_HPP
