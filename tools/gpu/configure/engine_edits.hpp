// Changes engines to read CDI specs, and undoes such changes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/engines/engines.hpp"
#include "../../kit/host/host_tree.hpp"
#include "file_edit.hpp"

namespace prepare::configure {

/// Changes in a safe order: a file comes before the file that refers to it.
using Edits = std::vector<FileEdit>;

/// What an engine lacks.
struct Needs {
  bool switch_on = false;
  bool set_dirs = false;
  std::vector<std::string> dirs{};  // to read, lowest priority first

  bool any() const { return switch_on || set_dirs; }
};

/// An engine whose configuration can be changed.
struct Configurable {
  std::string_view name;     // on the command line
  std::string_view engine;   // in `tools::Engine`
  std::string_view restart;  // how the change takes effect
  /// The file of our own that the engine reads; empty if it reads none. Null for Docker.
  std::string_view (*own_file)(const tools::HostTree&, const tools::Engine&);
  std::string (*settings)(const tools::HostTree&, const tools::Engine&, const Needs&);
  std::array<std::string_view, 3> files{};  // that may change; unused elements are empty
};

// CRI-O, podman: their drop-in files have priority over the main file.

inline constexpr std::string_view crio_drop_in = "/etc/crio/crio.conf.d/99-cdi-prepare.conf";
inline constexpr std::string_view podman_drop_in =
    "/etc/containers/containers.conf.d/99-cdi-prepare.conf";

template <const std::string_view& path>
std::string_view drop_in(const tools::HostTree&, const tools::Engine&) {
  return path;
}

std::string crio_settings(const tools::HostTree&, const tools::Engine&, const Needs& needs);

std::string podman_settings(const tools::HostTree&, const tools::Engine&, const Needs& needs);

// containerd: from 2.0 on, the tables of imported files are merged. Before, an imported file
// replaces the whole table of a plugin, with runtimes and registries.

inline constexpr std::string_view containerd_config = tools::engines::containerd_config;
inline constexpr std::string_view containerd_drop_in = "/etc/containerd/conf.d/cdi-prepare.toml";

/// Our main file, if there is no other main file; otherwise an imported file, if it is merged.
std::string_view containerd_file(const tools::HostTree& tree, const tools::Engine& engine);

std::string containerd_settings(const tools::HostTree& tree, const tools::Engine& engine,
                                const Needs& needs);

/// What a person has to add to containerd's main file, and where.
std::string containerd_by_hand(const tools::HostTree& tree, const tools::Engine& engine,
                               const Needs& needs);

// Docker: it has one file.

inline constexpr const char* docker_config = "/etc/docker/daemon.json";
inline constexpr const char* docker_copy = "/etc/docker/daemon.json.before-cdi-prepare";
inline constexpr const char* docker_record = "/etc/docker/daemon.json.set-by-cdi-prepare";

/// The engines that can be configured.
inline constexpr Configurable configurable[] = {
    {"containerd",
     "containerd",
     "Restart containerd: systemctl restart containerd",
     containerd_file,
     containerd_settings,
     {containerd_drop_in, containerd_config}},
    {"docker",
     "docker",
     "Restart Docker: systemctl restart docker",
     nullptr,
     nullptr,
     {docker_config, docker_copy, docker_record}},
    {"podman",
     "podman",
     "podman reads it when it starts. If its API service runs: systemctl restart podman.service",
     drop_in<podman_drop_in>,
     podman_settings,
     {podman_drop_in}},
    {"crio",
     "cri-o",
     "Restart CRI-O: systemctl restart crio",
     drop_in<crio_drop_in>,
     crio_settings,
     {crio_drop_in}},
};

/// The changes that give an engine what it needs. `own` is the file of our own that it reads.
cdi::Result<Edits> edits_of(const Configurable& one, const tools::HostTree& tree,
                            const tools::Engine& engine, std::string_view own, Needs needs);

/// Undoes the changes of earlier calls.
cdi::Result<Edits> undo_of(const Configurable& one, const tools::HostTree& tree);

/// Removes the temporary files that killed calls left beside the files of an engine.
void remove_leftovers(const HostOptions& options, const tools::HostTree& tree,
                      const Configurable& engine);

/// The name on the command line of an engine; empty if `configure` cannot change what it reads.
std::string_view configure_name(const tools::HostTree& tree, const tools::Engine& engine);

}  // namespace prepare::configure
