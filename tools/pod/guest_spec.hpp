// A CDI spec for the guest of a peer pod, with a device for each ResourceClaim.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_GUEST_SPEC_HPP
#define CDI_TOOLS_POD_GUEST_SPEC_HPP

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"

namespace pod {

/// The kind of the devices, of which each stands for a claim.
inline constexpr std::string_view claim_kind = "kata.peerpods.io/claim";

/// The nodes of a vendor's devices in a VM that has only them: `path` and a number for each device,
/// and nodes that all containers share.
struct GuestNodes {
  std::string_view resource;
  std::string_view path;
  std::int64_t first;
  std::array<std::string_view, 3> shared;
};

inline constexpr std::array<GuestNodes, 4> guest_nodes{{
    {"nvidia.com/gpu",
     "/dev/nvidia",
     0,
     {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}},
    {"amd.com/gpu", "/dev/dri/renderD", 128, {"/dev/kfd"}},
    {"gpu.intel.com/xe", "/dev/dri/renderD", 128, {}},
    {"gpu.intel.com/i915", "/dev/dri/renderD", 128, {}},
}};

/// Gives claims devices of their own.
class GuestSpec {
 public:
  /// Whether the nodes of a resource are known.
  static bool knows(std::string_view resource) { return row_of(resource) != nullptr; }

  /// The number of the first device of a known resource that no claim has.
  std::int64_t next(std::string_view resource) const {
    const auto found = next_.find(row_of(resource)->path);
    return found == next_.end() ? 0 : found->second;
  }

  /// Marks devices of a known resource as those of a claim.
  void take(std::string_view resource, std::int64_t count) {
    next_[row_of(resource)->path] += count;
  }

  /// Adds devices of a known resource to a device of the spec, from the number `first` on.
  void add(const std::string& name, std::string_view resource, std::int64_t first,
           std::int64_t count) {
    const auto& row = *row_of(resource);
    auto& nodes = nodes_[name];
    for (const auto shared : row.shared) {
      if (!shared.empty()) add_node(nodes, std::string{shared});
    }
    for (std::int64_t i = 0; i < count; ++i) {
      add_node(nodes, std::string{row.path}.append(std::to_string(row.first + first + i)));
    }
  }

  bool empty() const { return nodes_.empty(); }

  Json json() const {
    Json devices = Json::array();
    for (const auto& [name, nodes] : nodes_) {
      Json list = Json::array();
      for (const auto& path : nodes) list.push_back({{"path", path}});
      devices.push_back({{"name", name}, {"containerEdits", {{"deviceNodes", list}}}});
    }
    return {{"cdiVersion", "0.3.0"}, {"kind", claim_kind}, {"devices", std::move(devices)}};
  }

 private:
  static const GuestNodes* row_of(std::string_view resource) {
    for (const auto& row : guest_nodes) {
      if (row.resource == resource) return &row;
    }
    return nullptr;
  }

  static void add_node(std::vector<std::string>& nodes, const std::string& path) {
    for (const auto& one : nodes) {
      if (one == path) return;
    }
    nodes.push_back(path);
  }

  std::map<std::string, std::vector<std::string>> nodes_{};  // by device
  std::map<std::string_view, std::int64_t> next_{};          // by path
};

}  // namespace pod

#endif  // CDI_TOOLS_POD_GUEST_SPEC_HPP
