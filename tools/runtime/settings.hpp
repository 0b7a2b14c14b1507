// The settings of cdi-runtime: a TOML file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_RUNTIME_SETTINGS_HPP
#define CDI_TOOLS_RUNTIME_SETTINGS_HPP

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>
#include <cdi/scan.hpp>

#include "../kit/base/text.hpp"
#include "../kit/engines/toml_settings.hpp"
#include "../kit/host/trusted_file.hpp"

namespace runtime {

/// The settings, with their defaults.
struct Settings {
  std::string runtime{};  // a path, or a name in PATH; empty: the first of runc and crun
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  std::vector<std::string> prefixes{std::string{cdi::annotation_prefix}};
  std::string policy{};                            // a file; empty: everything is allowed
  std::map<std::string, std::string> variables{};  // the kind of each variable that counts
};

namespace detail {

/// The default file, which may be missing, if none is named.
inline std::string file_of(const char* named) {
  return named == nullptr ? "/etc/cdi-runtime/config.toml" : named;
}

/// Stores a setting. Returns the key of a setting that is unknown or has a wrong value, for example
/// an empty one; an empty key if there is none.
inline tools::TomlKey keep(const tools::TomlSettings& toml, const std::string& name,
                           Settings& settings) {
  const auto text = toml.text({name});
  const auto list = toml.list({name});
  const bool has_text = text && !text->empty();
  const bool has_list = list && std::count(list->items.begin(), list->items.end(), "") == 0;
  if (name == "runtime" && has_text) {
    settings.runtime = *text;
  } else if (name == "policy" && has_text) {
    settings.policy = *text;
  } else if (name == "spec-dirs" && has_list) {
    settings.spec_dirs = list->items;
  } else if (name == "annotation-prefixes" && has_list) {
    settings.prefixes = list->items;
  } else if (name == "variables" && !text && !list) {
    for (const auto& variable : toml.names_in({name})) {
      const auto kind = toml.text({name, variable});
      if (!kind || !cdi::parse_kind(*kind)) return {name, variable};
      settings.variables[variable] = *kind;
    }
  } else {
    return {name};
  }
  return {};
}

}  // namespace detail

/// The settings of a file; from the default file, which may be missing, if `named` is null. Unknown
/// settings are errors, because a misspelt policy would have no effect.
inline cdi::Result<Settings> read_settings(const char* named) {
  const auto path = detail::file_of(named);
  Settings settings;
  const auto text = tools::read_trusted_file(path);
  if (!text && named == nullptr && text.error().system == ENOENT) return settings;
  if (!text) return text.error();
  const auto toml = tools::parse_toml(*text, path);
  if (!toml) return toml.error();
  for (const auto& name : toml->names_in({})) {
    const auto wrong = detail::keep(*toml, name, settings);
    if (wrong.empty()) continue;
    auto position = toml->position_of(wrong);
    position.file = path;
    return cdi::Error{
        .code = cdi::Errc::schema,
        .message = "the setting " + cdi::quoted(wrong.back()) + " is unknown or its value is wrong",
        .advice =
            "write runtime and policy as text, spec-dirs and annotation-prefixes as lists, and in "
            "[variables] a kind for each, such as nvidia.com/gpu; no text is empty",
        .position = std::move(position)};
  }
  return settings;
}

/// The real runtime, for commands such as `kill`, which must work despite other faults in the
/// settings. Uses only lines before all tables, each of which must be TOML. Fails without
/// `runtime`: `delete --force` by another runtime would succeed, and leave the processes.
inline cdi::Result<std::string> read_runtime(const char* named) {
  auto settings = read_settings(named);
  if (settings) return std::move(settings->runtime);
  const auto text = tools::read_trusted_file(detail::file_of(named));
  for (const auto& line : tools::split(text ? *text : "", "\r\n")) {
    const auto toml = tools::parse_toml(line, "");
    if (!toml || line.starts_with('[')) break;
    if (auto name = toml->text({"runtime"}); name && !name->empty()) return *std::move(name);
  }
  return settings.error();
}

}  // namespace runtime

#endif  // CDI_TOOLS_RUNTIME_SETTINGS_HPP
