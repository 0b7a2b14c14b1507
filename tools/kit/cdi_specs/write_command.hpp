// Makes the command that rewrites a spec file of cdi-prepare.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../host/host_tree.hpp"
#include "../versions/engine_versions.hpp"
#include "recorded_options.hpp"

namespace tools {

/// Resolves links in the existing part of a path: /var/run/cdi becomes /run/cdi.
std::string place_of(const HostTree& tree, std::string_view path);

/// Converts a path on the host under the root to a path here. With a root other than /, links are
/// resolved as far as the path exists: a link on that host would lead out of the root.
std::string path_here(const HostTree& tree, const std::string& path);

/// The advice to convert a file in the tree for an engine. `here` is as in `file_here`.
std::string conversion_advice_here(const HostTree& tree, const std::string& path,
                                   const std::string& here, const tools::VersionedEngine& engine,
                                   const cdi::LoadedSpec& loaded);

/// The options recorded in one of our files in the tree.
std::optional<WriteOptions> recorded_options(const HostTree& tree, const cdi::LoadedSpec& loaded);

/// Whether a vendor file no longer exists. Without it, `write` removes the spec. A service with
/// `ProtectHome=` sees no home directory, or one that has no permissions: a file there is not lost.
bool is_lost_file(const std::filesystem::path& file);

/// The argument for a spec directory; none for the usual one.
std::vector<std::string> directory_argument(const HostTree& tree, const std::string& directory);

/// The arguments with which `cdi-prepare write` rewrites a spec file.
std::vector<std::string> arguments_for(const HostTree& tree, const cdi::LoadedSpec& loaded);

/// The command line in backquotes.
std::string command_with(const HostTree& tree, std::string_view command,
                         const std::vector<std::string>& arguments);

/// Arguments without a version: `write` then uses the newest version that the installed engines
/// read.
std::vector<std::string> arguments_without_version(const HostTree& tree,
                                                   const cdi::LoadedSpec& loaded);

/// The arguments that make `cdi-prepare write` keep the directory and options that its files on the
/// host record. If the usual directory has no such file, /etc/cdi counts instead.
std::vector<std::string> keeping_arguments(const HostTree& tree, const std::string& output_dir);

/// The command that rewrites one of our files for an engine; without an engine, for the oldest
/// installed engine.
std::string write_command_for(const HostTree& tree, const cdi::LoadedSpec& loaded,
                              const std::optional<tools::VersionedEngine>& engine);

}  // namespace tools
