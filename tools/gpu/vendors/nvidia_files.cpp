// The files of NVIDIA's driver for containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "nvidia_files.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "nvidia_libraries.hpp"
#include "nvidia_tables.hpp"

namespace prepare::nvidia {

namespace {

/// Adds the host's driver programs, which containers get in /usr/bin.
void add_programs(const tools::HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, profiles] : programs) {
    for (const auto directory : program_directories) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!tree.is_program(path)) continue;
      files.push_back({.kind = DriverFile::Kind::program,
                       .host_path = tree.real_path(path).value_or(path),
                       .container_path = fmt::format("/usr/bin/{}", name),
                       .profiles = profiles});
      break;
    }
  }
}

/// The directories of the driver's tree in which the kernel searches for firmware, in search order.
std::vector<std::string> firmware_directories(const tools::HostTree& host,
                                              const DriverPlace& place) {
  std::vector<std::string> directories;
  auto custom = host.line("/sys/module/firmware_class/parameters/path");
  // The kernel's path is a path on the host.
  if (!place.root.empty() && custom.starts_with(place.root + "/")) {
    custom.erase(0, place.root.size());
  }
  if (auto real_path = place.tree(host).real_path(custom); real_path && custom.starts_with('/')) {
    directories.push_back(std::move(*real_path));
  }
  const auto kernel = host.line("/proc/sys/kernel/osrelease");
  const bool is_name = !kernel.starts_with('.') && kernel.find('/') == std::string::npos;
  for (const std::string directory : {"/lib/firmware/updates", "/lib/firmware"}) {
    if (!kernel.empty() && is_name) directories.push_back(directory + "/" + kernel);
    directories.push_back(directory);
  }
  return directories;
}

/// Adds GPU firmware, each file from the directory in which the kernel finds it first.
void add_firmware(const tools::HostTree& tree, const std::vector<std::string>& directories,
                  const std::string& driver_version, std::vector<DriverFile>& files) {
  std::set<std::string> known;
  for (const auto& directory : directories) {
    const auto place = fmt::format("{}/nvidia/{}", directory, driver_version);
    const auto is_wanted = [](const tools::HostTree::FileName& file) {
      return file.name.starts_with("gsp") && file.name.ends_with(".bin");
    };
    for (auto& [name, real_path] : tree.files(place, is_wanted)) {
      if (!known.insert(name).second) continue;
      files.push_back({.kind = DriverFile::Kind::firmware,
                       .host_path = std::move(real_path),
                       .container_path = place + "/" + name});
    }
  }
}

/// Adds the sockets of running daemons.
void add_sockets(const tools::HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, profiles] : sockets) {
    std::set<std::string> known;
    for (const std::string_view directory : {"/run", "/var/run"}) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!S_ISSOCK(tree.status(path).st_mode)) continue;
      auto real_path = tree.real_path(path).value_or(path);
      if (!known.insert(real_path).second) continue;
      files.push_back({.kind = DriverFile::Kind::socket,
                       .host_path = std::move(real_path),
                       .container_path = path,
                       .profiles = profiles});
    }
  }
}

/// Adds the pipe directory of the MPS daemon, if root or this user owns it. All users may write to
/// /tmp, where a link could make containers write elsewhere.
void add_mps_directory(const tools::HostTree& tree, std::vector<DriverFile>& files) {
  const std::string path = "/tmp/nvidia-mps";
  const auto status = tree.status(path);
  const bool is_trusted = status.st_uid == 0 || status.st_uid == ::geteuid();
  if (!S_ISDIR(status.st_mode) || !is_trusted || tree.link_name(path)) return;
  files.push_back({.kind = DriverFile::Kind::socket,
                   .host_path = tree.real_path(path).value_or(path),
                   .container_path = path,
                   .profiles = compute});
}

/// Adds the configuration files with which OpenCL, Vulkan, EGL and X find the driver, at the usual
/// paths in images.
void add_configurations(const tools::HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, container_directory, profiles] : configurations) {
    for (const auto directory : configuration_directories) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!S_ISREG(tree.status(path).st_mode)) continue;
      files.push_back({.kind = DriverFile::Kind::configuration,
                       .host_path = tree.real_path(path).value_or(path),
                       .container_path = fmt::format("{}/{}", container_directory, name),
                       .profiles = profiles});
      break;
    }
  }
}

}  // namespace

std::vector<DriverFile> driver_files(const tools::HostTree& host, const std::string& driver_version,
                                     std::vector<Problem>& warnings, const DriverPlace& place) {
  const auto version = is_driver_version(driver_version) ? driver_version : std::string{};
  const auto& tree = place.tree(host);
  auto files = sorted_files(libraries(tree, version, warnings, place.library_dirs));
  add_programs(tree, files);
  if (!version.empty()) add_firmware(tree, firmware_directories(host, place), version, files);
  add_sockets(tree, files);
  add_mps_directory(tree, files);
  add_configurations(tree, files);
  std::erase_if(files, [](const DriverFile& file) {
    return !tools::is_plain(file.host_path) || !tools::is_plain(file.container_path);
  });
  std::sort(files.begin(), files.end(), [](const DriverFile& a, const DriverFile& b) {
    return a.container_path < b.container_path;
  });
  for (auto& file : files) file.host_path.insert(0, place.root);
  return files;
}

}  // namespace prepare::nvidia
