// Checks of NVIDIA's driver and its libraries.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "driver.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/model/fault.hpp"
#include "../../gpu/vendors/nvidia_libraries.hpp"
#include "../../gpu/vendors/tegra.hpp"
#include "../../kit/base/text.hpp"

namespace prepare::doctor {

namespace {

/// The version of the loaded NVIDIA module; empty if no module is loaded.
std::string nvidia_module_version(const tools::HostTree& tree) {
  if (auto version = tree.line("/sys/module/nvidia/version"); !version.empty()) return version;
  const auto words = tools::split(tree.line("/proc/driver/nvidia/version"), " \t\n");
  auto word = std::find(words.begin(), words.end(), "Module");
  for (; word != words.end(); ++word) {
    if (word->find_first_not_of("0123456789.") == std::string::npos) return *word;
  }
  return {};
}

/// The directories in which distributions install libcuda, and other given ones, without
/// duplicates.
std::set<std::string> cuda_directories(const tools::HostTree& tree,
                                       const std::vector<std::string>& others) {
  std::set<std::string> directories;
  for (const auto& directory : others) {
    if (auto real = tree.real_path(directory)) directories.insert(std::move(*real));
  }
  for (const std::string_view top : {"/usr/lib64", "/usr/lib", "/lib64", "/lib"}) {
    std::vector<std::string> places{std::string{top}};
    for (const auto& name : tree.list(top)) {
      if (name.ends_with("-linux-gnu")) places.push_back(fmt::format("{}/{}", top, name));
    }
    for (const auto& place : places) {
      for (const std::string_view below : {"", "/nvidia", "/nvidia/current"}) {
        if (auto real = tree.real_path(fmt::format("{}{}", place, below))) {
          directories.insert(std::move(*real));
        }
      }
    }
  }
  return directories;
}

/// The version in a file name such as `libcuda.so.550.54.14`; nullopt for other files, such as the
/// library of Tegra's own GPU.
std::optional<std::string> cuda_version(std::string_view path) {
  constexpr std::string_view name = "libcuda.so.";
  path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(name)) return std::nullopt;
  const auto version = path.substr(name.size());
  if (!nvidia::is_driver_version(version)) return std::nullopt;
  return std::string{version};
}

/// The files that programs may load as libcuda: the target of `libcuda.so.1`, or otherwise all
/// versions.
std::set<std::string> cuda_libraries(const tools::HostTree& tree,
                                     const std::vector<std::string>& library_dirs) {
  std::set<std::string> paths;
  for (const auto& directory : cuda_directories(tree, library_dirs)) {
    const auto linked = tree.real_path(directory + "/libcuda.so.1");
    if (linked && cuda_version(*linked)) {
      paths.insert(*linked);
      continue;
    }
    for (const auto& name : tree.list(directory)) {
      if (cuda_version(name)) paths.insert(fmt::format("{}/{}", directory, name));
    }
  }
  return paths;
}

/// A driver without libraries.
Finding without_libraries(const tools::HostTree& tree, const DriverPlace& place,
                          std::vector<std::string> arguments, const std::string& version) {
  std::erase_if(arguments, [](const auto& one) { return one.starts_with("--driver-root "); });
  arguments.emplace_back("--driver-root DIR");
  return {Level::note, "NVIDIA driver",
          fmt::format("module {} is loaded, but no libcuda is installed{}", version,
                      place.root.empty() ? "" : " in " + place.root),
          fmt::format("{} If a container provides the driver, name its directory, such as "
                      "/run/nvidia/driver: {}.",
                      tools::libraries_remedy, command_with(tree, "write", arguments))};
}

}  // namespace

void check_nvidia_driver(const tools::HostTree& tree, const DriverPlace& place,
                         std::vector<std::string> arguments, Findings& findings) {
  const std::string about = "NVIDIA driver";
  if (tree.exists("/sys/module/nvidia") && !tree.exists("/proc/driver/nvidia")) {
    findings.push_back({Level::fault, about,
                        "the module is loaded, but /proc/driver/nvidia does not exist",
                        "Reload it (modprobe -r nvidia; modprobe nvidia) or reboot; in a "
                        "container, mount the host's /proc under the root."});
  }
  const auto loaded = nvidia_module_version(tree);
  if (loaded.empty()) return;
  const auto libraries = cuda_libraries(place.tree(tree), place.library_dirs);
  if (libraries.empty() && tegra::is_tegra(tree)) return;  // its own has a different version
  if (libraries.empty()) {
    findings.push_back(without_libraries(tree, place, std::move(arguments), loaded));
    return;
  }
  std::string others;
  bool has_same = false;
  for (const auto& path : libraries) {
    has_same = has_same || cuda_version(path) == loaded;
    if (cuda_version(path) != loaded)
      others.append(others.empty() ? "" : ", ").append(place.root + path);
  }
  if (others.empty()) {
    findings.push_back(
        {Level::good, about, fmt::format("module and libraries are {}", loaded), {}});
    return;
  }
  findings.push_back(
      {Level::fault, about,
       fmt::format("module {} is loaded, but programs load {}", loaded, others),
       has_same ? "If the driver was upgraded, reboot or reload the module; otherwise let "
                  "libcuda.so.1 lead to the library with the same version as the module: see which "
                  "packages have the other files, and run ldconfig."
                : remedy_for(Fault::other_libraries, {})});
}

}  // namespace prepare::doctor
