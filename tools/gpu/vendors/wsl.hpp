// The Windows GPUs in the Windows Subsystem for Linux.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../model/driver_file.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"
#include "nvidia.hpp"

// All GPUs share one node and are not in sysfs, and Windows provides the libraries.

namespace prepare::wsl {

inline constexpr const char* node_path = "/dev/dxg";
inline constexpr const char* libraries = "/usr/lib/wsl/lib";
inline constexpr const char* driver_store = "/usr/lib/wsl/drivers";

/// The library directories: a common directory, and one for each driver in the driver store.
inline std::vector<std::string> library_directories(const tools::HostTree& tree) {
  std::vector<std::string> directories;
  if (!tree.list(libraries).empty()) directories.emplace_back(libraries);
  for (const auto& name : tree.list(driver_store)) {
    auto directory = fmt::format("{}/{}", driver_store, name);
    if (!tree.list(directory).empty()) directories.push_back(std::move(directory));
  }
  return directories;
}

/// The node of all GPUs. The kernel chooses its minor number when the driver is loaded, and shows
/// it in sysfs.
inline cdi::Result<Node> node(const tools::HostTree& tree) {
  if (tree.exists("/sys/class/misc/dxg/dev")) {
    return sysfs_node(tree, "/sys/class/misc/dxg", node_path);
  }
  auto found = tree.node(node_path);
  if (!found) return std::move(found).error();
  return Node{std::move(*found)};
}

/// The device "all", if the node exists. Its kind is NVIDIA's if NVIDIA's library is found. A host
/// with NVIDIA GPUs of its own is not WSL.
inline Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "microsoft.com/gpu"};
  const bool has_own = std::any_of(functions.begin(), functions.end(), &nvidia::is_gpu);
  if (has_own || !tree.exists(node_path)) return found;
  Gpu gpu{.vendor = "microsoft", .id = "all", .driver = "dxgkrnl"};
  if (tree.exists(std::string{libraries} + "/libcuda.so.1")) {
    found.kind = "nvidia.com/gpu";
    found.env = {nvidia::no_second_injection};
    gpu.vendor = "nvidia";
  }
  found.library_directories = library_directories(tree);
  auto node = wsl::node(tree);
  if (node) {
    gpu.whole.nodes.push_back(std::move(*node));
  } else {
    gpu.whole.left_out = Problem{Fault::dxg_node, node.error().message};
  }
  found.gpus.push_back(std::move(gpu));
  return found;
}

/// The kind of a file in a library directory; nullopt for Windows files, which make up most of the
/// driver store.
inline std::optional<DriverFile::Kind> kind_of(std::string_view name) {
  if (name == "nvidia-smi") return DriverFile::Kind::program;
  if (name.ends_with(".so") || name.find(".so.") != std::string_view::npos) {
    return DriverFile::Kind::library;
  }
  if (name.ends_with(".bin")) return DriverFile::Kind::firmware;  // GPU programs
  return std::nullopt;
}

/// Adds the Linux files in a directory, if it contains a library.
inline void add_files(const tools::HostTree& tree, const std::string& directory,
                      FilesByPath& files) {
  const auto names = tree.files(directory, [&](const tools::HostTree::FileName& file) {
    return kind_of(file.name) && tools::is_plain(directory + file.name + file.real_path);
  });
  const bool has_library = std::any_of(names.begin(), names.end(), [](const auto& file) {
    return kind_of(file.name) == DriverFile::Kind::library;
  });
  if (!has_library) return;
  for (const auto& [name, real_path] : names) {
    add_at_real_path(files, *kind_of(name), real_path, directory + "/" + name);
  }
}

/// The files in `library_directories`, sorted by path. They have the same paths in containers; one
/// nvidia-smi is also in /usr/bin.
inline std::vector<DriverFile> driver_files(const tools::HostTree& tree,
                                            const std::vector<std::string>& library_directories) {
  FilesByPath found;
  for (const auto& directory : library_directories) add_files(tree, directory, found);
  auto files = sorted_files(std::move(found));
  const auto program = std::find_if(files.begin(), files.end(), [](const DriverFile& file) {
    return file.kind == DriverFile::Kind::program;
  });
  if (program != files.end()) program->links.emplace_back("/usr/bin/nvidia-smi");
  return files;
}

}  // namespace prepare::wsl
