// The container engines on a host, and how their configuration makes them read CDI specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "../host/host_tree.hpp"
#include "engine.hpp"
#include "toml_settings.hpp"

// Only configuration files are read, not the options on an engine's command line.

namespace tools {

namespace engines {

/// Whether a pattern in the last part of a path matches another path. A wildcard matches no hidden
/// file.
bool is_match(std::string_view pattern, std::string_view path);

/// The table with containerd's CDI settings; its name depends on the file version.
TomlKey containerd_table(std::int64_t version);

std::int64_t containerd_version(const TomlSettings& settings);

/// The paths, with patterns, of the files that a file of containerd imports. A relative one begins
/// at its directory.
std::vector<std::string> containerd_imports(const std::string& path, const TomlSettings& settings);

inline constexpr const char* containerd_config = "/etc/containerd/config.toml";

/// Whether containerd runs without its CRI plugin, as on hosts where it only serves Docker.
bool is_cri_disabled(const TomlSettings& settings);

std::optional<Engine> crio(const HostTree& tree);

/// A member of a JSON object; null if it is missing.
const nlohmann::json* member(const nlohmann::json& object, const char* name);

/// Applies the files that podman and buildah share.
void apply_containers_conf(const HostTree& tree, Engine& engine);

/// Applies the defaults of an engine version: directories that are not configured, and whether they
/// can be. Podman before 5.5.0 ignores configured directories.
void apply_version(Engine& engine);

}  // namespace engines

/// The engines whose program or configuration is on the host.
std::vector<Engine> installed_engines(const HostTree& tree);

}  // namespace tools
