// Intel GPUs on i915 or xe, with their SR-IOV functions; Intel NPUs; and Gaudi accelerators.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "intel.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../model/fault.hpp"

namespace prepare::intel {

namespace {

constexpr std::uint32_t pci_vendor = 0x8086;

constexpr std::uint32_t habana_pci_vendor = 0x1da3;

bool is_gpu(const PciFunction& function) {
  return function.vendor == pci_vendor && !function.is_accelerator();
}

/// The nodes of the management engine of a discrete card, for firmware updates and telemetry.
std::vector<Node> management_nodes(const tools::HostTree& tree, const PciFunction& function,
                                   std::vector<Problem>& warnings) {
  std::vector<Node> nodes;
  for (const auto& child : tree.list(function.directory())) {
    if (child.find(".mei-gscfi.") == std::string::npos) continue;
    const auto directory = fmt::format("{}/{}/mei", function.directory(), child);
    for (const auto& name : tree.list(directory)) {
      const auto path = "/dev/" + name;
      add_node(nodes, path, sysfs_node(tree, directory + "/" + name, path), Fault::udev_node,
               warnings);
    }
  }
  return nodes;
}

/// Fills in the nodes of a GPU. Returns why the GPU cannot be handed out.
std::optional<Problem> examine(const tools::HostTree& tree, Candidate& candidate,
                               std::vector<Problem>& warnings) {
  auto& [function, gpu] = candidate;
  if (gpu.driver != "i915" && gpu.driver != "xe") return bound_to(gpu.driver);
  gpu.aliases.push_back(uid(function));
  gpu.whole.nodes = drm_nodes(tree, function, warnings);
  gpu.other_nodes = management_nodes(tree, function, warnings);
  if (auto fault = virtual_functions_fault(tree, gpu)) return fault;
  return render_node_fault(gpu.whole.nodes);
}

/// Adds the nodes in `dev_directory` that a sysfs directory lists.
void add_nodes_of(const tools::HostTree& tree, const std::string& sysfs_directory,
                  const std::string& dev_directory, std::vector<Node>& nodes,
                  std::vector<Problem>& warnings) {
  for (const auto& name : tree.list(sysfs_directory)) {
    const auto directory = sysfs_directory + "/" + name;
    if (!tree.exists(directory + "/dev")) continue;
    const auto path = dev_directory + name;
    add_node(nodes, path, sysfs_node(tree, directory, path), Fault::udev_node, warnings);
  }
}

/// Why an accelerator with these nodes cannot be handed out.
std::optional<Problem> accelerator_fault(const std::vector<Node>& nodes) {
  constexpr std::string_view prefix = "/dev/accel/accel";
  const bool has_one = std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.path.starts_with(prefix) &&
           tools::parse_number<std::uint32_t>(std::string_view{node.path}.substr(prefix.size()));
  });
  if (has_one) return std::nullopt;
  return Problem{Fault::no_accel_node, "it has no usable node in /dev/accel"};
}

/// An NPU is recognized by its driver, because other Intel accelerators have the same class.
bool is_npu(const PciFunction& function) {
  return function.vendor == pci_vendor && function.is_accelerator() &&
         function.driver == "intel_vpu";
}

bool is_gaudi(const PciFunction& function) {
  return function.vendor == habana_pci_vendor && function.is_accelerator();
}

}  // namespace

std::string uid(const PciFunction& function) {
  auto name = function.address;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '.'; }, '-');
  return fmt::format("{}-{:#06x}", name, function.device);
}

Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "intel.com/gpu"};
  for (auto& candidate : candidates(functions, &is_gpu)) {
    candidate.gpu.whole.left_out = examine(tree, candidate, found.warnings);
    found.gpus.push_back(std::move(candidate.gpu));
  }
  return found;
}

Inventory detect_npus(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "intel.com/npu"};
  for (auto& [function, npu] : candidates(functions, &is_npu)) {
    add_nodes_of(tree, function.directory() + "/accel", "/dev/accel/", npu.whole.nodes,
                 found.warnings);
    npu.whole.left_out = accelerator_fault(npu.whole.nodes);
    found.gpus.push_back(std::move(npu));
  }
  return found;
}

Inventory detect_gaudis(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "intel.com/gaudi",
                  .driver_version = tree.line("/sys/module/habanalabs/version")};
  for (auto& [function, gaudi] : candidates(functions, &is_gaudi)) {
    if (gaudi.driver == "habanalabs") {
      const auto directory = function.directory();
      add_nodes_of(tree, directory + "/accel", "/dev/accel/", gaudi.whole.nodes, found.warnings);
      add_nodes_of(tree, directory + "/infiniband_verbs", "/dev/infiniband/", gaudi.whole.nodes,
                   found.warnings);
      gaudi.whole.left_out = accelerator_fault(gaudi.whole.nodes);
    } else {
      gaudi.whole.left_out = bound_to(gaudi.driver);
    }
    found.gpus.push_back(std::move(gaudi));
  }
  return found;
}

}  // namespace prepare::intel
