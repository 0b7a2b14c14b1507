// Finds libraries that a spec mounts and the host has lost, and gives advice.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/spec.hpp>

#include "../host/host_tree.hpp"

// With a spec written while they are missing, containers would start and could not use their
// device. So `cdi-prepare` keeps the old spec, with which containers fail and say why.

namespace tools {

/// What to do before a spec is written if the libraries do not match the driver's module.
inline constexpr std::string_view libraries_remedy =
    "If the driver was upgraded, reboot or reload the module; otherwise install the libraries with "
    "the same version as the module.";

/// The same, as a part of a sentence.
inline std::string libraries_remedy_clause() {
  std::string out{libraries_remedy.substr(0, libraries_remedy.size() - 1)};
  out.front() = static_cast<char>(std::tolower(out.front()));
  return out;
}

/// The mounts of a spec or an inventory; only these paths matter here.
struct FileMount {
  std::string host_path{};
  std::string container_path{};

  std::string_view name() const {
    return std::string_view{container_path}.substr(container_path.rfind('/') + 1);
  }
};

namespace lost {

/// The library without which no program uses an NVIDIA GPU.
inline bool is_main(const FileMount& mount) {
  return mount.name().starts_with("libcuda.so");
}

inline bool is_library(const FileMount& mount) {
  const auto name = mount.name();
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

/// Whether it may come with a driver: sockets and configuration do not. Its place in the container
/// counts, because the host may have the driver itself in /run.
inline bool is_of_driver(const FileMount& mount) {
  for (const std::string_view top :
       {"/dev/", "/etc/", "/proc/", "/run/", "/sys/", "/tmp/", "/var/run/"}) {
    if (mount.container_path.starts_with(top)) return false;
  }
  return mount.host_path.starts_with('/');
}

}  // namespace lost

inline void add_file_mounts(const cdi::ContainerEdits& edits, std::vector<FileMount>& out) {
  for (const auto& mount : edits.mounts) out.push_back({mount.host_path, mount.container_path});
}

/// The mounts of all edits of a spec.
inline std::vector<FileMount> file_mounts(const cdi::Spec& spec) {
  std::vector<FileMount> out;
  add_file_mounts(spec.container_edits, out);
  for (const auto& device : spec.devices) add_file_mounts(device.container_edits, out);
  return out;
}

/// A path that the host lost: the main library's if all its files are gone, otherwise a library's
/// or driver file's if all of those are gone. Nullopt if none is lost, or if `now` has such files
/// instead.
inline std::optional<std::string> lost_driver_file(const HostTree& tree, const cdi::Spec& old,
                                                   const std::vector<FileMount>& now) {
  const auto before = file_mounts(old);
  for (const auto is_it : {&lost::is_main, &lost::is_library, &lost::is_of_driver}) {
    const FileMount* first = nullptr;
    const bool is_there = std::any_of(before.begin(), before.end(), [&](const FileMount& mount) {
      if (!lost::is_of_driver(mount) || !is_it(mount)) return false;
      if (first == nullptr) first = &mount;
      return tree.exists(mount.host_path);
    });
    if (first == nullptr || is_there || std::any_of(now.begin(), now.end(), is_it)) continue;
    return first->host_path;
  }
  return std::nullopt;
}

}  // namespace tools
