// The settings file of cdi-prepare, and which recorded options agree with it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_CDI_SPECS_WRITE_SETTINGS_HPP
#define CDI_TOOLS_KIT_CDI_SPECS_WRITE_SETTINGS_HPP

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../engines/toml_settings.hpp"
#include "../host/host_tree.hpp"
#include "recorded_options.hpp"

namespace tools {

/// The file with settings for all commands of cdi-prepare, on the host.
inline constexpr const char* settings_path = "/etc/cdi-prepare/config.toml";

namespace recorded {

/// The settings that affect the content of specs, besides those in `with_value`.
inline constexpr std::string_view other_contents[] = {
    "for",        "format",       "hooks",  "node-numbers", "nvml", "ld-library-path",
    "output-dir", "visible-only", "no-all",
};

inline bool counts(const std::string& setting) {
  const auto is_it = [&](const Option& option) {
    return option.name == setting + "=";
  };
  return std::any_of(std::begin(with_value), std::end(with_value), is_it) ||
         std::find(std::begin(other_contents), std::end(other_contents), setting) !=
             std::end(other_contents);
}

/// The word that records a setting; empty for a flag that is off.
inline std::string word_for(const TomlSettings& settings, const std::string& name) {
  if (const auto truth = settings.truth({name})) return *truth ? name : std::string{};
  const auto list = settings.list({name});
  auto parts = list ? list->items : std::vector<std::string>{settings.text({name}).value_or("")};
  if (name == "device") std::sort(parts.begin(), parts.end());
  return fmt::format("{}={}", name, fmt::join(parts, name == "device" ? "," : ":"));
}

}  // namespace recorded

/// Whether `cdi-prepare write` with recorded words writes the same spec although it also reads the
/// host's settings file: each relevant setting there is one of the words.
inline bool agrees_with_settings(const HostTree& tree, const std::vector<std::string>& words) {
  const auto text = tree.read(settings_path);
  if (!text) return true;
  const auto settings = parse_toml(*text, settings_path);
  if (!settings) return false;
  const auto names = settings->names_in({});
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto word = recorded::word_for(*settings, name);
    return !recorded::counts(name) || word.empty() ||
           std::find(words.begin(), words.end(), word) != words.end();
  });
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_CDI_SPECS_WRITE_SETTINGS_HPP
