// The settings of cdi-runtime: a TOML file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>
#include <cdi/scan.hpp>

#include "../kit/base/text.hpp"
#include "../kit/base/toml.hpp"
#include "../kit/host/trusted_file.hpp"

namespace runtime {

/// The settings, with their defaults.
struct Settings {
  std::string runtime{};  // a path, or a name in PATH; empty: the first of runc and crun
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  std::vector<std::string> prefixes{std::string{cdi::annotation_prefix}};
  std::string policy{};                            // a file; empty: everything is allowed
  std::map<std::string, std::string> variables{};  // the kind of each variable that counts

  static constexpr void fields(auto& list) {
    list("runtime", &Settings::runtime);
    list("spec-dirs", &Settings::spec_dirs);
    list("annotation-prefixes", &Settings::prefixes);
    list("policy", &Settings::policy);
    list("variables", &Settings::variables);
  }
};

namespace detail {

/// The default file, which may be missing, if none is named.
inline std::string file_of(const char* named) {
  return named == nullptr ? "/etc/cdi-runtime/config.toml" : named;
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
  const auto document = tools::read_toml(*text, path, settings);
  if (!document) return document.error();
  for (const auto& [variable, kind] : settings.variables) {
    if (cdi::parse_kind(kind)) continue;
    return tools::member_error(*document, "variables." + variable,
                               cdi::quoted(kind) + " is not a kind",
                               "give one such as nvidia.com/gpu");
  }
  return settings;
}

/// The real runtime, for commands such as `kill`, which must work despite other faults in the
/// settings. Uses only lines before the first table, each of which must be TOML. Fails without
/// `runtime`: `delete --force` by another runtime would succeed, and leave the processes.
inline cdi::Result<std::string> read_runtime(const char* named) {
  auto settings = read_settings(named);
  if (settings) return std::move(settings->runtime);
  const auto text = tools::read_trusted_file(detail::file_of(named));
  for (const auto& line : tools::split(text ? *text : "", "\r\n")) {
    const auto toml = tools::toml_table(line, "");
    if (!toml || line.starts_with('[')) break;
    const auto name = (*toml)["runtime"].value_exact<std::string>().value_or("");
    if (!name.empty()) return name;
  }
  return settings.error();
}

}  // namespace runtime
