// Finds the GPU of NVIDIA's Tegra and Jetson, for which CSV files list nodes and files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../model/driver_file.hpp"
#include "../model/gpu.hpp"
#include "../model/pci.hpp"
#include "nvidia.hpp"

// The GPU is part of the chip, not on a PCI bus. NVIDIA's packages install the files, one line for
// each thing: `dev, /dev/nvhost-ctrl`; `lib`, `dir` and `sym` with the paths of files, directories
// and links.

namespace prepare::tegra {

inline constexpr const char* directory = "/etc/nvidia-container-runtime/host-files-for-container.d";

/// A line of a CSV file.
struct Entry {
  std::string type{};
  std::string path{};
};

/// Parses a line; nullopt for an empty line, a comment and any other text.
inline std::optional<Entry> parse_entry(std::string_view line) {
  const auto comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  Entry entry{std::string{tools::trim(line.substr(0, comma))},
              std::string{tools::trim(line.substr(comma + 1))}};
  const bool known =
      entry.type == "dev" || entry.type == "dir" || entry.type == "lib" || entry.type == "sym";
  if (!known || !entry.path.starts_with('/') || !tools::is_plain(entry.path)) return std::nullopt;
  return entry;
}

/// The lines of the files that NVIDIA's tools use by default.
inline std::vector<Entry> entries(const tools::HostTree& tree) {
  std::vector<Entry> out;
  for (const std::string name : {"devices.csv", "drivers.csv", "l4t.csv"}) {
    const auto text = tree.read(std::string{directory} + "/" + name);
    if (!text) continue;
    for (const auto& line : tools::split(*text, "\r\n")) {
      if (auto entry = parse_entry(line)) out.push_back(std::move(*entry));
    }
  }
  return out;
}

/// Whether the host is a Tegra.
inline bool is_tegra(const tools::HostTree& tree) {
  auto family = tree.line("/sys/devices/soc0/family");
  std::transform(family.begin(), family.end(), family.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return tree.exists("/etc/nv_tegra_release") || family.starts_with("tegra");
}

/// Adds a file, a directory, or the target of a link, at its path in containers. Hosts lack some of
/// the listed paths, which belong to optional packages.
inline void add_file(const tools::HostTree& tree, const Entry& entry, FilesByPath& files) {
  const auto real_path = tree.real_path(entry.path);
  if (!real_path || !tools::is_plain(*real_path)) return;
  const auto mode = tree.status(*real_path).st_mode;
  if (!S_ISREG(mode) && !S_ISDIR(mode)) return;
  const bool is_library = S_ISREG(mode) && entry.path.find(".so") != std::string::npos;
  add_at_real_path(files, is_library ? DriverFile::Kind::library : DriverFile::Kind::configuration,
                   *real_path, entry.path);
}

/// The listed files of the driver, sorted by path.
inline std::vector<DriverFile> driver_files(const tools::HostTree& tree) {
  FilesByPath found;
  add_file(tree, {"lib", "/etc/nv_tegra_release"}, found);
  for (const auto& entry : entries(tree)) {
    if (entry.type != "dev") add_file(tree, entry, found);
  }
  auto files = sorted_files(std::move(found));
  for (auto& file : files) {  // several lists may contain the same link
    file.links.erase(std::unique(file.links.begin(), file.links.end()), file.links.end());
  }
  return files;
}

/// The GPU of the chip, named 0, if the host lists its nodes. A Tegra with GPUs on the PCI bus is
/// left to `nvidia::detect`.
inline Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "nvidia.com/gpu", .env = {nvidia::no_second_injection}};
  if (std::any_of(functions.begin(), functions.end(), &nvidia::is_gpu) || !is_tegra(tree)) {
    return found;
  }
  Gpu gpu{.vendor = "nvidia", .id = "0", .driver = "nvgpu"};
  for (const auto& entry : entries(tree)) {
    auto node = entry.type == "dev" ? tree.node(entry.path) : cdi::Error{};
    if (node) gpu.whole.nodes.push_back(Node{std::move(*node)});
  }
  if (gpu.whole.nodes.empty()) return found;
  found.gpus.push_back(std::move(gpu));
  found.is_tegra = true;
  return found;
}

/// Warns that the GPU of a Tegra is left out beside NVIDIA's GPUs on the PCI bus.
inline void warn_of_left_out(const tools::HostTree& tree, std::vector<Inventory>& inventories) {
  for (auto& found : inventories) {
    if (found.kind != "nvidia.com/gpu" || found.is_tegra || !is_tegra(tree)) continue;
    found.warnings.push_back(
        {Fault::integrated_gpu,
         "the GPU of the Tegra processor is left out: it has other libraries than the GPUs on the "
         "PCI bus"});
  }
}

}  // namespace prepare::tegra
