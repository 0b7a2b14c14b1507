// Finds the engine that an option names, by default in the host's version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../host/host_tree.hpp"
#include "../versions/engine_defaults.hpp"
#include "../versions/engine_versions.hpp"
#include "engine.hpp"
#include "installed_versions.hpp"

namespace tools {

/// Whether the version of an engine can be queried: it is named without one.
inline bool can_be_asked(std::string_view engine) {
  return engines::version_source(engine) != nullptr;
}

/// An engine with its newest known version, which reads specs, as an example for `--for`.
inline std::string with_newest_version(std::string_view engine) {
  std::string example;
  for (const auto& row : tools::engine_versions) {
    if (row.engine == engine) example = fmt::format("{}@{}", engine, to_string(row.last));
  }
  return example;
}

/// Why an engine is not valid for `--for`; empty if it is valid, even if it reads no specs.
inline std::string requested_engine_error(const std::string& engine) {
  if (can_be_asked(engine)) return {};
  const auto parsed = tools::parse_engine(engine);
  if (parsed) return {};
  for (const auto& row : tools::engine_defaults) {
    if (row.engine != engine) continue;
    return fmt::format("{} does not report its version: specify it, for example {}", engine,
                       with_newest_version(engine));
  }
  return to_string(parsed.error());
}

/// Why an engine is not valid for `--for` of a command that writes specs for it.
inline std::string spec_reader_error(const std::string& engine) {
  const auto error = requested_engine_error(engine);
  if (!error.empty() || can_be_asked(engine)) return error;
  const auto version = tools::written_spec_version_for(engine);
  return version ? std::string{} : to_string(version.error());
}

/// The engine that `--for` names without a version, among the engines of a host, which must
/// outlive the result.
inline cdi::Result<tools::VersionedEngine> engine_of_host(const std::vector<Engine>& engines,
                                                          const std::string& name) {
  std::string why = "it is not installed on this host";
  for (const auto& engine : engines) {
    if (engine.name != name) continue;
    if (engine.version) return engine.of_version();
    why = engine.why_no_version();
  }
  return cdi::Error{.code = cdi::Errc::not_found,
                    .message = fmt::format("--for {}: {}", name, why),
                    .advice = "give the version, such as " + with_newest_version(name)};
}

/// `podman@5.4.2` for the podman of the host in a tree.
inline cdi::Result<std::string> with_version_of_host(const HostTree& tree, VersionsFrom from,
                                                     const std::string& name) {
  const auto engines = EngineVersions{from}.engines(tree);
  const auto found = engine_of_host(engines, name);
  if (!found) return found.error();
  return fmt::format("{}@{}", found->name, to_string(found->version));
}

/// Says which version stands for an engine that was named without one.
inline std::string version_of_host_note(const std::string& engine) {
  return fmt::format("for {}, the version on this host", engine);
}

}  // namespace tools
