// Finds image builders and programs for single containers that read CDI specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../host/host_tree.hpp"
#include "engines.hpp"

namespace tools {

namespace engines {

inline std::optional<Engine> buildah(const HostTree& tree) {
  if (!has_program(tree, "buildah")) return std::nullopt;
  Engine engine{.name = "buildah", .is_builder = true};
  apply_containers_conf(tree, engine);
  return engine;
}

inline std::optional<Engine> buildkit(const HostTree& tree) {
  if (!has_program(tree, "buildkitd")) return std::nullopt;
  const std::string path = "/etc/buildkit/buildkitd.toml";
  Engine engine{.name = "buildkit",
                .to_switch_on = "Remove disabled = true from [cdi] of " + path + ".",
                .to_set_dirs = "specDirs in [cdi] of " + path,
                .is_builder = true};
  const auto settings = read_toml(tree, path, engine);
  if (settings.truth({"cdi", "disabled"}).value_or(false)) engine.cdi = Engine::Cdi::off;
  set_spec_dirs(settings, {"cdi", "specDirs"}, path, engine);
  return engine;
}

inline std::optional<Engine> nerdctl(const HostTree& tree) {
  if (!has_program(tree, "nerdctl")) return std::nullopt;
  const std::string path = "/etc/nerdctl/nerdctl.toml";
  Engine engine{.name = "nerdctl", .to_set_dirs = "cdi_spec_dirs in " + path, .is_builder = true};
  set_spec_dirs(read_toml(tree, path, engine), {"cdi_spec_dirs"}, path, engine);
  return engine;
}

/// NVIDIA's runtime, if its mode makes it always read specs.
inline std::optional<Engine> nvidia_runtime(const HostTree& tree) {
  if (!has_program(tree, "nvidia-container-runtime")) return std::nullopt;
  const std::string path = "/etc/nvidia-container-runtime/config.toml";
  const std::string table = "nvidia-container-runtime";
  Engine engine{.name = table,
                .to_set_dirs = "spec-dirs in [nvidia-container-runtime.modes.cdi] of " + path,
                .is_builder = true};
  const auto settings = read_toml(tree, path, engine);
  if (settings.text({table, "mode"}) != "cdi") return std::nullopt;
  set_spec_dirs(settings, {table, "modes", "cdi", "spec-dirs"}, path, engine);
  return engine;
}

inline std::optional<Engine> apptainer(const HostTree& tree) {
  if (!has_program(tree, "apptainer")) return std::nullopt;
  return Engine{.name = "apptainer", .to_set_dirs = "--cdi-dirs", .is_builder = true};
}

/// SingularityCE. Apptainer also installs a program with that name.
inline std::optional<Engine> singularity(const HostTree& tree) {
  if (!has_program(tree, "singularity") || has_program(tree, "apptainer")) return std::nullopt;
  return Engine{.name = "singularity-ce", .to_set_dirs = "--cdi-dirs", .is_builder = true};
}

}  // namespace engines

/// The builders and similar programs that are installed on the host.
inline std::vector<Engine> installed_builders(const HostTree& tree) {
  std::vector<Engine> found;
  for (const auto find : {&engines::apptainer, &engines::buildah, &engines::buildkit,
                          &engines::nerdctl, &engines::nvidia_runtime, &engines::singularity}) {
    if (auto engine = find(tree)) found.push_back(std::move(*engine));
  }
  return found;
}

}  // namespace tools
