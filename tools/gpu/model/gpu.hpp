// The model of GPUs, the same for all vendors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/spec.hpp>

#include "driver_file.hpp"
#include "fault.hpp"
#include "node.hpp"
#include "profile.hpp"

namespace prepare {

/// A part of a GPU that a container can get: the whole GPU, or a MIG instance or partition.
struct Share {
  std::string suffix{};                // added to each GPU name: ":gi1:ci0"; empty for the whole
  std::vector<std::string> aliases{};  // names without the suffix: "MIG-..."
  std::string size{};                  // in the vendor's notation: "1g.10gb"; empty if unknown
  std::vector<Node> nodes{};
  cdi::ContainerEdits edits{};        // besides the nodes; of a vendor file
  std::optional<Problem> left_out{};  // why it cannot be handed out
};

/// A GPU on the host, even if it cannot be handed out to a container.
struct Gpu {
  std::string vendor{};       // "nvidia"
  std::string noun = "GPU";   // what it is, for people; "device" if only a vendor file knows
  std::string id{};           // from the vendor, stable across reboots; empty if unknown
  std::string model{};        // empty when unknown
  std::string pci_address{};  // "0000:17:00.0"; empty for a GPU on another bus
  std::string pci_id{};       // vendor and device: "10de:20b5"
  std::string driver{};       // empty when none is bound
  std::optional<int> numa_node{};
  std::optional<std::size_t> index{};  // position among its kind, by PCI address; none for GPUs
                                       // that come and go, like virtual functions
  std::vector<std::string> aliases{};  // more stable names
  std::map<std::string, std::string> attributes{};  // of a vendor file, for people and programs
  std::string mode{};                               // the partitioning mode: "MIG", "CPX/NPS4"
  std::string physical_function{};  // PCI address of its physical GPU, if it is a virtual function
  std::string iommu_group{};        // "42"
  Share whole{};  // its nodes, as the kernel says they should be; left out when no part of the GPU
                  // can be handed out
  std::vector<Node> iommufd_nodes{};  // an alternative to the nodes of `whole`
  std::vector<Node> other_nodes{};    // of the GPU, but not handed out
  std::vector<Share> partitions{};    // handed out instead of the whole

  /// The stable name: the vendor's id, or otherwise the PCI address.
  const std::string& stable_name() const { return id.empty() ? pci_address : id; }

  /// Where it is, for people: on PCI, or otherwise its id or its first node.
  const std::string& place() const {
    if (!pci_address.empty()) return pci_address;
    return id.empty() && !whole.nodes.empty() ? whole.nodes.front().path : id;
  }

  /// What people call it: its place, or the name of a device from a vendor file.
  const std::string& known_name() const { return noun == "GPU" || id.empty() ? place() : id; }

  /// The parts that can be handed out: the partitions if there are any, otherwise the whole.
  std::span<const Share> shares() const {
    if (!partitions.empty()) return partitions;
    return {&whole, 1};
  }

  /// The index as a name of a share; nullopt if the GPU has no index.
  std::optional<std::string> index_name(const Share& share) const {
    if (!index) return std::nullopt;
    return std::to_string(*index) + share.suffix;
  }

  /// The names of a share other than the stable name and the index. They include the PCI address,
  /// because a driver may not know the id until a process uses the GPU.
  std::vector<std::string> all_aliases(const Share& share) const {
    std::vector<std::string> names = share.aliases;
    for (const auto& alias : aliases) names.push_back(alias + share.suffix);
    if (!pci_address.empty()) names.push_back(pci_address + share.suffix);
    return names;
  }

  /// All names of a share other than the stable name, in the order of the spec.
  std::vector<std::string> other_names(const Share& share) const {
    auto names = all_aliases(share);
    if (auto name = index_name(share)) names.insert(names.begin(), std::move(*name));
    std::erase(names, stable_name() + share.suffix);
    return names;
  }
};

/// A node that containers with some profiles need and the host lacks.
struct MissingNode {
  Problem problem{};
  Profiles profiles{};
  std::optional<Node> real{};  // as reported by the driver, if another device has its place

  /// Whether specs for some profiles must wait for it.
  bool is_needed_by(Profiles requested) const { return is_needed(profiles, requested); }
};

/// The GPUs of one kind, and the edits that their containers share.
struct Inventory {
  std::string kind{};  // of the CDI devices: "nvidia.com/gpu"
  std::string driver_version{};
  std::vector<Gpu> gpus{};                         // by PCI address
  std::vector<Node> control_nodes{};               // every container with a GPU needs them
  std::vector<Node> fabric_nodes{};                // NVSwitches and IMEX channels; never handed out
  std::vector<std::string> library_directories{};  // if not the usual directories
  std::vector<DriverFile> files{};                 // by container path; see `add_driver_files`
  std::vector<std::string> env{};                  // for every container with a GPU
  cdi::ContainerEdits edits{};                     // likewise; of a vendor file
  std::string vendor_file{};                       // named by an option, which finds the GPUs
  std::vector<MissingNode> missing{};
  std::vector<Problem> warnings{};
  std::optional<Problem> not_ready{};  // why no GPU works, even if some are usable
  bool is_management = false;          // for programs that create device nodes themselves
  bool is_tegra = false;               // its files are listed on the host

  /// The number of GPUs and partitions.
  std::size_t total_count() const {
    std::size_t count = 0;
    for (const auto& gpu : gpus) count += gpu.shares().size();
    return count;
  }

  /// The number of GPUs and partitions that can be handed out.
  std::size_t usable_count() const {
    if (not_ready) return 0;
    std::size_t count = 0;
    for (const auto& gpu : gpus) {
      for (const auto& share : gpu.shares()) count += share.left_out ? 0U : 1U;
    }
    return count;
  }
};

/// A kind without a GPU on the host, and the reason if it is known.
struct AbsentKind {
  std::string kind{};
  std::string reason{};
  bool is_named = false;  // by an option
};

/// The first reason why it may be too early to hand out GPUs of a kind to containers with some
/// profiles: no share is usable, and this is not intended, or a required node is missing. Nullopt
/// if ready.
inline std::optional<Problem> reason_not_ready(const Inventory& found, Profiles profiles) {
  if (found.not_ready) return found.not_ready;
  if (found.usable_count() > 0) {
    for (const auto& node : found.missing) {
      if (node.is_needed_by(profiles)) return node.problem;
    }
    return std::nullopt;
  }
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      if (share.left_out && !share.left_out->is_lasting()) return share.left_out;
    }
  }
  return std::nullopt;
}

/// Warnings about a kind for containers with some profiles: about its driver, and about missing
/// nodes without which they work.
inline std::vector<std::string> warnings_of(const Inventory& found, Profiles profiles) {
  std::vector<std::string> out;
  for (const auto& warning : found.warnings) out.push_back(warning.text);
  for (const auto& node : found.missing) {
    const bool concerns = node.profiles.shares(profiles) && !node.is_needed_by(profiles);
    if (concerns) out.push_back(node.problem.text);
  }
  return out;
}

/// Removes ids that several GPUs share, so that a name never means two GPUs. `what` describes the
/// id in the warning.
inline void drop_shared_ids(Inventory& found, std::string_view what) {
  std::map<std::string, int> uses;
  for (const auto& gpu : found.gpus) ++uses[gpu.id];
  for (auto& gpu : found.gpus) {
    if (gpu.id.empty() || uses[gpu.id] == 1) continue;
    found.warnings.push_back({Fault::shared_id, fmt::format("{}: another GPU has the same {}, {}",
                                                            gpu.pci_address, what, gpu.id)});
    gpu.id.clear();
  }
}

}  // namespace prepare
