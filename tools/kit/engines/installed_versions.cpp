// The versions of the container engines on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "installed_versions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "../base/text.hpp"
#include "../host/child_process.hpp"
#include "engines.hpp"

namespace tools::engines {

namespace {

constexpr std::array<VersionSource, 10> version_sources{{
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

/// The first word of a text that is a version, as in `podman version 4.3.1`.
std::optional<tools::EngineVersion> version_in(std::string_view text) {
  for (const auto& word : split(text, " \t\r\n,")) {
    if (auto version = tools::parse_engine_version(word)) return version;
  }
  return std::nullopt;
}

/// The value of a field in a paragraph of Debian's database; empty if the field is missing.
std::string_view package_field(std::string_view paragraph, std::string_view name) {
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
std::string package_version(std::string_view database, std::string_view package) {
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
cdi::Result<tools::EngineVersion> look_up_version(const HostTree& tree,
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

}  // namespace

const VersionSource* version_source(std::string_view engine) {
  for (const auto& source : version_sources) {
    if (source.engine == engine) return &source;
  }
  return nullptr;
}

cdi::Result<tools::EngineVersion> ask_version(const std::string& program,
                                              std::chrono::milliseconds deadline) {
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

}  // namespace tools::engines

namespace tools {

std::vector<Engine> EngineVersions::engines(const HostTree& tree) {
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
    return engine.is_builder && engine.version && !tools::find_engine_versions(engine.of_version());
  });
  return found;
}

cdi::Result<tools::EngineVersion> EngineVersions::ask(const HostTree& tree,
                                                      const std::string& program) {
  const auto now = cdi::signature_of(tree.status(program));
  const auto known = known_.find(program);
  if (known != known_.end() && known->second.program == now) return known->second.version;
  auto version = engines::ask_version(program);
  if (version) known_.insert_or_assign(program, Known{now, *version});
  return version;
}

std::optional<cdi::Result<tools::EngineVersion>> EngineVersions::find(const HostTree& tree,
                                                                      std::string_view engine) {
  const auto* const source = engines::version_source(engine);
  if (source == nullptr) return std::nullopt;
  const auto program = engines::program_path(tree, source->program);
  if (!program) return std::nullopt;
  if (from_ == VersionsFrom::packages) return engines::look_up_version(tree, *source);
  return ask(tree, *program);
}

}  // namespace tools
