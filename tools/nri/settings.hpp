// The settings of cdi-nri: from its command line, or from the runtime that launches it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_SETTINGS_HPP
#define CDI_TOOLS_NRI_SETTINGS_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/scan.hpp>

#include "../kit/engines/toml_settings.hpp"
#include "../kit/names/policy_check.hpp"

namespace nri {

/// The settings, with their defaults.
struct Settings {
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  /// Who turns names into edits: `auto`, the runtime if it can; `always`, this plugin; `never`, the
  /// runtime, and nothing is checked.
  std::string resolve = "auto";
  std::string policy{};                   // a file; empty: everything is allowed
  std::vector<std::string> namespaces{};  // patterns for pods that may request; empty: all
  std::vector<std::string> prefixes{};    // of annotations, in addition to `annotation_families`
  std::string host_root{};                // the host's root directory, as this process sees it
  /// How long an answer may take, in milliseconds. A runtime waits for each answer, and by default
  /// drops a plugin after 2 s.
  int answer_limit = 90;
};

inline constexpr int max_answer_limit = 60'000;

/// Fails for settings that contradict each other.
inline cdi::Result<void> check(const Settings& settings) {
  if (settings.policy.empty() || settings.resolve != "never") return {};
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "a policy has no effect if the runtime resolves the names",
                    .advice = "leave out one of them"};
}

/// Fails if the policy cannot be read now. It is read again for each container.
inline cdi::Result<void> try_policy(const Settings& settings) {
  if (settings.policy.empty()) return {};
  const auto policy = tools::read_policy_file(settings.policy);
  return policy ? cdi::Result<void>{} : policy.error();
}

namespace detail {

/// Stores a setting. False if it is unknown or has a wrong value, for example an empty one.
inline bool keep(const tools::TomlSettings& toml, const std::string& key, Settings& settings) {
  const auto value = toml.text({key});
  const auto list = toml.list({key});
  if (value && !value->empty()) {
    const bool is_way = *value == "auto" || *value == "always" || *value == "never";
    if (key == "resolve" && is_way) return settings.resolve = *value, true;
    if (key == "policy") return settings.policy = *value, true;
    if (key == "host-root") return settings.host_root = *value, true;
  }
  const auto number = toml.number({key});
  if (key == "answer-limit" && number && *number > 0 && *number <= max_answer_limit) {
    return settings.answer_limit = static_cast<int>(*number), true;
  }
  const auto is_empty = [](const std::string& item) {
    return item.empty();
  };
  if (!list || list->items.empty() ||
      std::any_of(list->items.begin(), list->items.end(), is_empty)) {
    return false;
  }
  if (key == "spec-dirs") return settings.spec_dirs = list->items, true;
  if (key == "namespaces") return settings.namespaces = list->items, true;
  if (key == "prefixes") return settings.prefixes = list->items, true;
  return false;
}

}  // namespace detail

/// Applies the settings in a TOML text. `name` is for messages. Unknown settings are errors,
/// because a misspelt policy would have no effect.
inline cdi::Result<void> read_settings(std::string_view text, std::string_view name,
                                       Settings& settings) {
  const auto toml = tools::parse_toml(text, name);
  if (!toml) return toml.error();
  for (const auto& key : toml->names_in({})) {
    if (detail::keep(*toml, key, settings)) continue;
    const auto lines = toml->lines_of({key});
    const auto line = lines ? static_cast<std::uint32_t>(lines->first) + 1 : 0;
    return cdi::Error{.code = cdi::Errc::schema,
                      .message = "the setting " + cdi::quoted(key) + " is unknown or wrong",
                      .advice =
                          "write policy and host-root as text, resolve as auto, always or "
                          "never, answer-limit as a number of milliseconds up to 60000, and "
                          "spec-dirs, namespaces and prefixes as lists; none is empty",
                      .position = {.file = std::string{name}, .line = line}};
  }
  return {};
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_SETTINGS_HPP
