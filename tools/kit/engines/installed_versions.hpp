// The versions of the container engines on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/files/signature.hpp>

#include "../host/host_tree.hpp"
#include "../versions/engine_versions.hpp"
#include "builders.hpp"

// On this machine, the programs report their versions. Under another root, no program may run, and
// Debian's package database is read instead.

namespace tools {

namespace engines {

/// The names under which the version of an engine is looked up.
struct VersionSource {
  std::string_view engine;
  std::string_view program;
  std::array<std::string_view, 2> packages;  // Debian's and the upstream package
};

/// The names of an engine; null if its version cannot be looked up.
const VersionSource* version_source(std::string_view engine);

/// Runs a program on this machine to get its version. The environment contains only a fixed `PATH`,
/// and the program is killed if it does not answer within the deadline.
cdi::Result<tools::EngineVersion> ask_version(
    const std::string& program, std::chrono::milliseconds deadline = std::chrono::seconds{5});

}  // namespace engines

/// The source of versions.
enum class VersionsFrom : std::uint8_t { programs, packages };

/// Finds the versions of engines. Runs a program again only if its file has changed.
class EngineVersions {
 public:
  explicit EngineVersions(VersionsFrom from) : from_{from} {}

  /// The engines whose program or configuration is on the host, with the program versions. Builders
  /// that are too old to read specs are left out.
  std::vector<Engine> engines(const HostTree& tree);

  /// The version that a program on this machine reports, now or in its last run.
  cdi::Result<tools::EngineVersion> ask(const HostTree& tree, const std::string& program);

 private:
  struct Known {
    cdi::Signature program;
    tools::EngineVersion version;
  };

  /// The version of an engine, or why it is unknown; nullopt if the program is not on the host.
  std::optional<cdi::Result<tools::EngineVersion>> find(const HostTree& tree,
                                                        std::string_view engine);

  VersionsFrom from_;
  std::map<std::string, Known> known_{};
};

}  // namespace tools
