// A container engine on a host, and how its configuration files are read.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/cache.hpp>
#include <cdi/result.hpp>

#include "../host/host_tree.hpp"
#include "../versions/engine_versions.hpp"
#include "toml_settings.hpp"

namespace tools {

/// An installed engine.
struct Engine {
  /// Whether it injects CDI devices.
  enum class Cdi : std::uint8_t { on, off, by_version };

  std::string name{};
  std::optional<tools::EngineVersion> version{};  // nullopt if unknown
  std::string version_fault{};      // why it is unknown, if the program is on the host
  Cdi cdi = Cdi::on;                // from its configuration
  tools::EngineVersion on_since{};  // the first version that injects by default
  std::string to_switch_on{};       // how to switch CDI on
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();  // the last has priority
  std::size_t default_dirs = spec_dirs.size();  // the number without configuration
  std::string to_set_dirs{};                    // the setting for `spec_dirs`; empty if none exists
  std::string switch_file{};  // the last file that switches CDI on or off; empty if none does
  std::string dirs_file{};    // the last file that sets the directories
  bool is_builder = false;    // or runs single containers; need not read the specs
  std::vector<std::string> warnings{};  // about settings that cannot be read
  std::optional<cdi::Error> unread{};   // the first file that cannot be read or parsed

  /// `podman 4.3.1`, or only the name if the version is unknown.
  std::string full_name() const { return version ? to_string(of_version()) : name; }

  /// Why its version is unknown.
  std::string why_no_version() const {
    return version_fault.empty() ? "its program is not on this host" : version_fault;
  }

  /// The engine and its version, which must be known. Valid as long as this object.
  tools::VersionedEngine of_version() const { return {name, *version}; }

  /// Whether it injects CDI devices, according to its configuration and version.
  Cdi state() const {
    if (cdi != Cdi::by_version || !version) return cdi;
    return *version < on_since ? Cdi::off : Cdi::on;
  }

  /// Notes that a configuration file cannot be read or parsed.
  void add_unread(cdi::Error why) {
    warnings.push_back(cdi::to_string(why));
    if (!unread) unread = std::move(why);
  }

  /// Replaces all directories.
  void set_dirs(std::vector<std::string> dirs) {
    spec_dirs = std::move(dirs);
    default_dirs = 0;
  }
};

namespace engines {

/// Where programs are looked for, in the search order of services.
inline constexpr std::array<std::string_view, 4> program_directories{
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"};

/// The path of a program; nullopt if it is not installed.
inline std::optional<std::string> program_path(const HostTree& tree, std::string_view name) {
  for (const auto directory : program_directories) {
    auto path = fmt::format("{}/{}", directory, name);
    if (tree.exists(path)) return path;
  }
  return std::nullopt;
}

inline bool has_program(const HostTree& tree, std::string_view name) {
  return program_path(tree, name).has_value();
}

/// The content of a configuration file, if it exists; a file that cannot be read causes a warning.
inline std::optional<std::string> read_config(const HostTree& tree, const std::string& path,
                                              Engine& engine) {
  auto text = tree.read(path);
  if (text) return std::move(*text);
  const int system = text.error().system;
  if (system != ENOENT && system != ENOTDIR) engine.add_unread(std::move(text).error());
  return std::nullopt;
}

inline TomlSettings read_toml(const HostTree& tree, const std::string& path, Engine& engine) {
  const auto text = read_config(tree, path, engine);
  if (!text) return {};
  auto settings = parse_toml(*text, path);
  if (settings) return std::move(*settings);
  engine.add_unread(std::move(settings).error());
  return {};
}

/// Applies the spec directories set in a file.
inline void set_spec_dirs(const TomlSettings& settings, const TomlKey& key, const std::string& path,
                          Engine& engine) {
  if (!settings.has(key)) return;
  auto list = settings.list(key);
  if (!list) {
    engine.warnings.push_back(fmt::format("{}: {} is not a list of strings", path, key.back()));
    return;
  }
  engine.dirs_file = path;
  if (!list->append) engine.set_dirs({});
  std::move(list->items.begin(), list->items.end(), std::back_inserter(engine.spec_dirs));
}

/// The file whose setting counts: the last that has it, or the main file if none has it.
inline std::string file_that_counts(const std::string& last, const std::string& main) {
  return last.empty() || last == main ? main : last + ", which is read after " + main;
}

}  // namespace engines

}  // namespace tools
