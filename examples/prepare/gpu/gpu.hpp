// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_GPU_HPP
#define CDI_PREPARE_GPU_GPU_HPP

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver_file.hpp"
#include "fault.hpp"
#include "node.hpp"
#include "profile.hpp"

// What detection finds, in the same form for every vendor.

namespace prepare {

/// What a container can be given of a GPU: the whole of it, or a MIG instance or partition of it.
struct Share {
  std::string suffix{};                // to each name of the GPU: ":gi1:ci0"; empty for the whole
  std::vector<std::string> aliases{};  // whole names of its own: "MIG-..."
  std::string size{};                  // as its vendor names it: "1g.10gb"; empty when unknown
  std::vector<Node> nodes{};
  std::optional<Problem> left_out{};  // why it cannot be handed out
};

/// A GPU of the host, whether or not it can be handed to a container.
struct Gpu {
  std::string vendor{};       // "nvidia"
  std::string id{};           // the vendor's own, the same after each reboot; empty when unknown
  std::string model{};        // empty when unknown
  std::string pci_address{};  // "0000:17:00.0"; empty for one on no PCI bus
  std::string pci_id{};       // vendor and device: "10de:20b5"
  std::string driver{};       // bound to it; empty for none
  std::optional<int> numa_node{};
  std::optional<std::size_t> index{};  // place among all of its kind, by PCI address; none where
                                       // they come and go, as virtual functions do
  std::vector<std::string> aliases{};  // more names that stay
  std::string mode{};                  // how it is partitioned: "MIG", "CPX/NPS4"
  std::string physical_function{};     // PCI address of the GPU of which it is a virtual function
  std::string iommu_group{};           // "42"
  Share whole{};  // its nodes, as the kernel says they should be; left out when no part of the GPU
                  // can be handed out
  std::vector<Node> iommufd_nodes{};  // another way to the same GPU, in place of those of `whole`
  std::vector<Node> other_nodes{};    // are part of it, and are not handed out with it
  std::vector<Share> partitions{};    // handed out in place of the whole

  /// The name that stays: the vendor's id, else the PCI address.
  const std::string& stable_name() const { return id.empty() ? pci_address : id; }

  /// What to hand out: the partitions when there are any, else the whole.
  std::span<const Share> shares() const {
    if (!partitions.empty()) return partitions;
    return {&whole, 1};
  }

  /// The index as a name of one of its shares; none when it has none.
  std::optional<std::string> index_name(const Share& share) const {
    if (!index) return std::nullopt;
    return std::to_string(*index) + share.suffix;
  }

  /// The names of one of its shares beside the stable name and the index. The PCI address is among
  /// them, for a driver may not know the id until somebody uses the GPU.
  std::vector<std::string> all_aliases(const Share& share) const {
    std::vector<std::string> names = share.aliases;
    for (const auto& alias : aliases) names.push_back(alias + share.suffix);
    if (!pci_address.empty()) names.push_back(pci_address + share.suffix);
    return names;
  }

  /// All names of one of its shares beside the stable name, in the order of its spec.
  std::vector<std::string> other_names(const Share& share) const {
    auto names = all_aliases(share);
    if (auto name = index_name(share)) names.insert(names.begin(), std::move(*name));
    std::erase(names, stable_name() + share.suffix);
    return names;
  }
};

/// A node that containers of some profiles need, and that is not to be had.
struct MissingNode {
  Problem problem{};
  Profiles profiles{};

  /// Whether it is nothing to go on without. A server without a screen has no node for display
  /// modes, so only who asks for graphics and nothing else needs that.
  bool is_needed_by(Profiles asked) const {
    return profiles == graphics ? asked == graphics : profiles.shares(asked);
  }
};

/// The GPUs of one kind, and what their containers share.
struct Inventory {
  std::string kind{};  // of the CDI devices: "nvidia.com/gpu"
  std::string driver_version{};
  std::vector<Gpu> gpus{};                         // by PCI address
  std::vector<Node> control_nodes{};               // every container with a GPU needs them
  std::vector<Node> fabric_nodes{};                // NVSwitches and IMEX channels; handed to none
  std::vector<std::string> library_directories{};  // where libraries are, when not the usual place
  std::vector<DriverFile> files{};                 // by container path; see `add_driver_files`
  std::vector<std::string> env{};                  // for every container with a GPU
  std::vector<MissingNode> missing{};
  std::vector<Problem> warnings{};
  std::optional<Problem> not_ready{};  // why no GPU works although some look well

  /// How many GPUs and partitions there are to hand out.
  std::size_t total_count() const {
    std::size_t count = 0;
    for (const auto& gpu : gpus) count += gpu.shares().size();
    return count;
  }

  /// How many of them can be.
  std::size_t usable_count() const {
    if (not_ready) return 0;
    std::size_t count = 0;
    for (const auto& gpu : gpus) {
      for (const auto& share : gpu.shares()) count += share.left_out ? 0U : 1U;
    }
    return count;
  }
};

/// Whether it may be too early to hand out GPUs of a kind to containers of some profiles: nothing
/// can be, and not because somebody wants it so, or they need what is missing. Answers with the
/// first reason.
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

/// Takes the id from GPUs that share one, so that no name means two of them. `what` names the id
/// in the warning.
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

#endif  // CDI_PREPARE_GPU_GPU_HPP
