// The versions of the container engines on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_ENGINES_INSTALLED_VERSIONS_HPP
#define CDI_TOOLS_KIT_ENGINES_INSTALLED_VERSIONS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/signature.hpp>
#include <cdi/result.hpp>

#include "../base/text.hpp"
#include "../host/child_process.hpp"
#include "../host/host_tree.hpp"
#include "../versions/engine_versions.hpp"
#include "builders.hpp"
#include "engines.hpp"

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

inline constexpr std::array<VersionSource, 10> version_sources{{
    {"apptainer", "apptainer", {"apptainer", "apptainer-suid"}},
    {"buildah", "buildah", {"buildah", "buildah"}},
    {"buildkit", "buildkitd", {"buildkit", "buildkit"}},
    {"containerd", "containerd", {"containerd", "containerd.io"}},
    {"cri-o", "crio", {"cri-o", "cri-o"}},
    {"docker", "dockerd", {"docker.io", "docker-ce"}},
    {"nerdctl", "nerdctl", {"nerdctl", "nerdctl"}},
    {"nvidia-container-runtime",
     "nvidia-container-runtime",
     {"nvidia-container-toolkit-base", "nvidia-container-toolkit"}},
    {"podman", "podman", {"podman", "podman"}},
    {"singularity-ce", "singularity", {"singularity-container", "singularity-ce"}},
}};

/// The names of an engine; null if its version cannot be looked up.
inline const VersionSource* version_source(std::string_view engine) {
  for (const auto& source : version_sources) {
    if (source.engine == engine) return &source;
  }
  return nullptr;
}

/// The first word of a text that is a version, as in `podman version 4.3.1`.
inline std::optional<tools::EngineVersion> version_in(std::string_view text) {
  for (const auto& word : split(text, " \t\r\n,")) {
    if (auto version = tools::parse_engine_version(word)) return version;
  }
  return std::nullopt;
}

/// Runs a program on this machine to get its version. The environment contains only a fixed `PATH`,
/// and the program is killed if it does not answer within the deadline.
inline cdi::Result<tools::EngineVersion> ask_version(
    const std::string& program, std::chrono::milliseconds deadline = std::chrono::seconds{5}) {
  std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  char* const environment[] = {path.data(), nullptr};
  const auto answer = ask_program(
      deadline,
      {.path = program, .arguments = {program, "--version"}, .environment = &environment[0]});
  if (!answer) {
    auto error = answer.error();
    error.message = fmt::format("{} --version: {}", program, error.message);
    return error;
  }
  if (const auto version = version_in(answer->text)) return *version;
  return cdi::Error{.code = cdi::Errc::host,
                    .message = fmt::format("{} --version prints no version", program)};
}

/// The value of a field in a paragraph of Debian's database; empty if the field is missing.
inline std::string_view package_field(std::string_view paragraph, std::string_view name) {
  for (std::size_t at = 0; at < paragraph.size();) {
    const auto end = std::min(paragraph.find('\n', at), paragraph.size());
    const auto line = paragraph.substr(at, end - at);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(": ")) {
      return trim(line.substr(name.size() + 2));
    }
    at = end + 1;
  }
  return {};
}

/// The version of an installed package, without its epoch; empty if it is not installed.
inline std::string package_version(std::string_view database, std::string_view package) {
  for (std::size_t at = 0; at < database.size();) {
    const auto end = std::min(database.find("\n\n", at), database.size());
    const auto paragraph = database.substr(at, end - at);
    at = end + 2;
    if (package_field(paragraph, "Package") != package) continue;
    if (!package_field(paragraph, "Status").ends_with(" installed")) continue;
    const auto version = package_field(paragraph, "Version");
    return std::string{version.substr(version.find(':') + 1)};  // npos + 1 is 0
  }
  return {};
}

/// The version of an engine in the package database.
inline cdi::Result<tools::EngineVersion> look_up_version(const HostTree& tree,
                                                         const VersionSource& source) {
  const std::string path = "/var/lib/dpkg/status";
  constexpr std::size_t size_limit = 64 << 20;
  const auto database = tree.read(path, size_limit);
  if (!database) return database.error();
  for (const auto package : source.packages) {
    const auto version = tools::parse_engine_version(package_version(*database, package));
    if (version) return *version;
  }
  return cdi::Error{
      .code = cdi::Errc::not_found,
      .message = fmt::format("{} lists no version of package {}", path, source.packages.front())};
}

}  // namespace engines

/// The source of versions.
enum class VersionsFrom : std::uint8_t { programs, packages };

/// Finds the versions of engines. Runs a program again only if its file has changed.
class EngineVersions {
 public:
  explicit EngineVersions(VersionsFrom from) : from_{from} {}

  /// The engines whose program or configuration is on the host, with the program versions. Builders
  /// that are too old to read specs are left out.
  std::vector<Engine> engines(const HostTree& tree) {
    auto found = installed_engines(tree);
    for (auto& builder : installed_builders(tree)) found.push_back(std::move(builder));
    for (auto& engine : found) {
      const auto version = find(tree, engine.name);
      if (!version) continue;
      if (*version) {
        engine.version = **version;
      } else {
        engine.version_fault = version->error().message;
      }
      engines::apply_version(engine);
    }
    std::erase_if(found, [](const Engine& engine) {
      return engine.is_builder && engine.version &&
             !tools::find_engine_versions(engine.of_version());
    });
    return found;
  }

  /// The version that a program on this machine reports, now or in its last run.
  cdi::Result<tools::EngineVersion> ask(const HostTree& tree, const std::string& program) {
    const auto now = cdi::signature_of(tree.status(program));
    const auto known = known_.find(program);
    if (known != known_.end() && known->second.program == now) return known->second.version;
    auto version = engines::ask_version(program);
    if (version) known_.insert_or_assign(program, Known{now, *version});
    return version;
  }

 private:
  struct Known {
    cdi::Signature program;
    tools::EngineVersion version;
  };

  /// The version of an engine, or why it is unknown; nullopt if the program is not on the host.
  std::optional<cdi::Result<tools::EngineVersion>> find(const HostTree& tree,
                                                        std::string_view engine) {
    const auto* const source = engines::version_source(engine);
    if (source == nullptr) return std::nullopt;
    const auto program = engines::program_path(tree, source->program);
    if (!program) return std::nullopt;
    if (from_ == VersionsFrom::packages) return engines::look_up_version(tree, *source);
    return ask(tree, *program);
  }

  VersionsFrom from_;
  std::map<std::string, Known> known_{};
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_ENGINES_INSTALLED_VERSIONS_HPP
