// NVIDIA GPUs and their MIG instances.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "nvidia.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../model/fault.hpp"

namespace prepare::nvidia {

namespace {

constexpr std::uint32_t pci_vendor = 0x10de;

/// A node that NVIDIA's tools create on first use. Until then, a runtime needs only its numbers.
cdi::Result<Node> node_or_numbers(const tools::HostTree& tree, const std::string& path,
                                  std::int64_t major, std::int64_t minor, std::uint32_t mode) {
  auto node = checked_node(tree, path, major, minor);
  if (node || node.error().system != ENOENT) return node;
  Node numbers{{.path = path, .major = major, .minor = minor, .mode = mode}};
  numbers.is_on_host = false;
  return numbers;
}

/// The module of a node is not loaded, so its major number is unknown.
Problem no_major(std::string_view module) {
  return {Fault::no_major, fmt::format("/proc/devices lists no major for {}", module)};
}

/// The names in a directory that consist of `prefix` and a number, sorted by number.
std::vector<std::string> numbered(const tools::HostTree& tree, const std::string& directory,
                                  std::string_view prefix) {
  auto names = tree.list(directory);
  std::erase_if(names, [&](std::string_view name) {
    return !name.starts_with(prefix) ||
           !tools::parse_number<std::uint32_t>(name.substr(prefix.size()));
  });
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
    return std::pair{a.size(), a} < std::pair{b.size(), b};  // gi9 before gi10
  });
  return names;
}

/// Adds the node that gives access to a MIG instance; `directory` is the instance's directory in
/// /proc. Returns why the node cannot be used.
std::optional<Problem> add_access_node(const tools::HostTree& tree, const CharMajors& majors,
                                       const std::string& directory, std::vector<Node>& nodes) {
  const auto text = tree.read(directory + "/access");
  if (!text) return Problem{Fault::mig_access, text.error().message};
  auto values = parse_values(*text);
  const auto minor = tools::parse_number<std::int64_t>(values["DeviceFileMinor"]);
  if (!minor) return Problem{Fault::mig_access, directory + "/access lists no DeviceFileMinor"};
  const auto major = majors.find("nvidia-caps");
  if (!major) return no_major("nvidia-caps");
  const auto path = "/dev/nvidia-caps/nvidia-cap" + std::to_string(*minor);
  const auto mode = tools::parse_number<std::uint32_t>(values["DeviceFileMode"]);
  auto node = node_or_numbers(tree, path, *major, *minor, mode.value_or(0444) & 0777);
  if (!node) return Problem{Fault::mig_node, node.error().message, path};
  nodes.push_back(std::move(*node));
  return std::nullopt;
}

/// A MIG instance: a compute instance `instances/GI/CI` of the GPU whose node is `gpu_node`. Its
/// name contains both numbers, because only NVML knows its UUID.
Share mig_instance(const tools::HostTree& tree, const CharMajors& majors,
                   const std::string& instances, const std::string& gi, const std::string& ci,
                   const Node& gpu_node) {
  Share share{.suffix = fmt::format(":{}:{}", gi, ci), .nodes = {gpu_node}};
  for (const auto& directory :
       {fmt::format("{}/{}", instances, gi), fmt::format("{}/{}/{}", instances, gi, ci)}) {
    share.left_out = add_access_node(tree, majors, directory, share.nodes);
    if (share.left_out) break;
  }
  return share;
}

/// Fills in the MIG instances of a GPU, if it is partitioned. Returns why none can be handed out.
/// An empty `mig` directory only means that the GPU could be partitioned.
std::optional<Problem> examine_mig(const tools::HostTree& tree, const CharMajors& majors,
                                   std::int64_t minor, Gpu& gpu) {
  const auto instances = fmt::format("/proc/driver/nvidia/capabilities/gpu{}/mig", minor);
  const auto gpu_instances = numbered(tree, instances, "gi");
  if (gpu_instances.empty()) return virtual_functions_fault(tree, gpu);
  gpu.mode = "MIG";
  for (const auto& gi : gpu_instances) {
    const auto compute_instances = numbered(tree, instances + "/" + gi, "ci");
    if (compute_instances.empty()) {
      const Problem problem{Fault::no_compute_instance, "it has no compute instance"};
      gpu.partitions.push_back({.suffix = ":" + gi, .left_out = problem});
    }
    for (const auto& ci : compute_instances) {
      gpu.partitions.push_back(
          mig_instance(tree, majors, instances, gi, ci, gpu.whole.nodes.front()));
    }
  }
  return std::nullopt;
}

/// Fills in the driver's data about a GPU, and its node. Returns why the GPU cannot be handed out.
std::optional<Problem> examine(const tools::HostTree& tree, const CharMajors& majors, Gpu& gpu) {
  if (gpu.driver != "nvidia") return bound_to(gpu.driver);
  const auto text = tree.read("/proc/driver/nvidia/gpus/" + gpu.pci_address + "/information");
  if (!text) {
    return Problem{Fault::driver_silent,
                   "the driver does not answer queries about it: " + cdi::to_string(text.error())};
  }
  const auto information = parse_information(*text);
  gpu.id = information.uuid;
  gpu.model = information.model;
  if (information.excluded) {
    return Problem{Fault::excluded_by_driver, "excluded by the driver's configuration"};
  }
  if (!information.minor) {
    return Problem{Fault::no_device_minor, "the driver reports no device minor for it"};
  }
  const auto major = gpu_major(majors);
  if (!major) return no_major("nvidia");
  const auto path = "/dev/nvidia" + std::to_string(*information.minor);
  auto node = checked_node(tree, path, *major, *information.minor);
  if (!node) return Problem{Fault::nvidia_node, node.error().message, path};
  gpu.whole.nodes.push_back(std::move(*node));
  return examine_mig(tree, majors, *information.minor, gpu);
}

/// A node that not all profiles need.
struct OptionalNode {
  std::string path{};
  std::optional<std::int64_t> major{};
  std::int64_t minor = 0;
  Profiles profiles{};
  Fault node{};              // if another device has its place
  Fault module{};            // if its kernel module is not loaded
  bool is_optional = false;  // even for its profiles
};

/// Adds a control node that not all profiles need. If its module is loaded but the node does not
/// exist yet, a runtime needs only its numbers. Another device in its place, for example after the
/// module was reloaded with another major, is treated as a missing node.
void add_optional_node(const tools::HostTree& tree, Inventory& found, const OptionalNode& wanted) {
  if (!wanted.major) {
    const Problem problem{wanted.module, wanted.path + ": its kernel module is not loaded"};
    found.missing.push_back({problem, wanted.profiles});
    return;
  }
  auto node = node_or_numbers(tree, wanted.path, *wanted.major, wanted.minor, 0666);
  if (!node && !wanted.is_optional) {
    const Node real{{.path = wanted.path, .major = *wanted.major, .minor = wanted.minor}};
    found.missing.push_back({{wanted.node, node.error().message}, wanted.profiles, real});
    return;
  }
  if (node) {
    node->profiles = wanted.profiles;
    node->is_optional = wanted.is_optional;
  }
  add_node(found.control_nodes, wanted.path, std::move(node), wanted.node, found.warnings);
}

/// Adds the nodes that all GPUs share; without the first node, no GPU works.
void add_control_nodes(const tools::HostTree& tree, const CharMajors& majors, Inventory& found) {
  const auto major = gpu_major(majors);
  const std::string path = "/dev/nvidiactl";
  auto control = checked_node(tree, path, major.value_or(0), control_minor);
  if (!control) {
    found.not_ready = Problem{Fault::nvidiactl_node, control.error().message, path};
    return;
  }
  found.control_nodes.push_back(std::move(*control));
  const auto uvm_major = majors.find("nvidia-uvm");
  add_optional_node(tree, found,
                    {"/dev/nvidia-uvm", uvm_major, uvm_minor, compute | video, Fault::uvm_node,
                     Fault::uvm_module});
  add_optional_node(tree, found,
                    {"/dev/nvidia-uvm-tools", uvm_major, uvm_tools_minor, compute | video,
                     Fault::uvm_tools_node, Fault::uvm_module, true});
  add_optional_node(tree, found,
                    {"/dev/nvidia-modeset", modeset_major(majors), modeset_minor, graphics,
                     Fault::modeset_node, Fault::modeset_module});
}

/// Adds the nodes in a directory whose names consist of `prefix` and their minor number.
void add_numbered_nodes(const tools::HostTree& tree, const std::string& directory,
                        std::string_view prefix, std::optional<std::int64_t> major,
                        Inventory& found) {
  if (!major) return;
  for (const auto& name : numbered(tree, directory, prefix)) {
    const auto minor =
        tools::parse_number<std::int64_t>(std::string_view{name}.substr(prefix.size()));
    const auto path = directory + "/" + name;
    add_node(found.fabric_nodes, path, checked_node(tree, path, *major, minor.value_or(-1)),
             Fault::fabric_node, found.warnings);
  }
}

/// Adds the nodes of NVSwitches, and of the IMEX channels. Both reach beyond one GPU, so containers
/// do not get them.
void add_fabric_nodes(const tools::HostTree& tree, const CharMajors& majors, Inventory& found) {
  const auto switch_major = majors.find("nvidia-nvswitch");
  if (switch_major && tree.node("/dev/nvidia-nvswitchctl")) {
    const auto path = "/dev/nvidia-nvswitchctl";
    add_node(found.fabric_nodes, path, checked_node(tree, path, *switch_major, control_minor),
             Fault::fabric_node, found.warnings);
  }
  add_numbered_nodes(tree, "/dev", "nvidia-nvswitch", switch_major, found);
  add_imex_channels(tree, majors, found);
}

}  // namespace

std::string known_uuid(const std::string& text) {
  return text.starts_with("GPU-") && cdi::is_device_name(text) ? text : std::string{};
}

std::map<std::string, std::string, std::less<>> parse_values(std::string_view text) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& row : tools::split(text, "\n")) {
    const std::string_view view = row;
    const auto colon = view.find(':');
    if (colon == std::string_view::npos) continue;
    values.try_emplace(std::string{tools::trim(view.substr(0, colon))},
                       tools::printable(tools::trim(view.substr(colon + 1))));
  }
  return values;
}

Information parse_information(std::string_view text) {
  auto values = parse_values(text);
  return {.uuid = known_uuid(values["GPU UUID"]),
          .model = values["Model"],
          .minor = tools::parse_number<std::int64_t>(values["Device Minor"]),
          .excluded = values["GPU Excluded"] == "Yes"};
}

std::optional<std::int64_t> gpu_major(const CharMajors& majors) {
  const auto major = majors.find("nvidia");
  return major ? major : majors.find("nvidia-frontend");
}

std::optional<std::int64_t> modeset_major(const CharMajors& majors) {
  const auto major = majors.find("nvidia-modeset");
  return major ? major : majors.find("nvidia-frontend");
}

void add_imex_channels(const tools::HostTree& tree, const CharMajors& majors, Inventory& found) {
  add_numbered_nodes(tree, "/dev/nvidia-caps-imex-channels", "channel",
                     majors.find("nvidia-caps-imex-channels"), found);
}

bool is_gpu(const PciFunction& function) {
  return function.vendor == pci_vendor && !function.is_virtual();
}

Inventory detect(const tools::HostTree& tree, const std::vector<PciFunction>& functions) {
  Inventory found{.kind = "nvidia.com/gpu",
                  .driver_version = tree.line("/sys/module/nvidia/version"),
                  .env = {no_second_injection}};
  const CharMajors majors{tree};
  for (auto& [function, gpu] : candidates(functions, &is_gpu)) {
    gpu.whole.left_out = examine(tree, majors, gpu);
    if (!gpu.whole.left_out) {
      auto nodes = drm_nodes(tree, function, found.warnings);
      for (auto& node : nodes) node.profiles = graphics;
      std::move(nodes.begin(), nodes.end(), std::back_inserter(gpu.whole.nodes));
    }
    found.gpus.push_back(std::move(gpu));
  }
  drop_shared_ids(found, "UUID");
  if (found.usable_count() > 0) add_control_nodes(tree, majors, found);
  if (!found.gpus.empty()) add_fabric_nodes(tree, majors, found);
  return found;
}

}  // namespace prepare::nvidia
