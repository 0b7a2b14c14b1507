// The GPUs on a host as text and as results.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "report.hpp"

#include <cstddef>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../kit/base/result_text.hpp"

namespace prepare {

namespace {

using tools::text_or_null;

std::optional<std::string> text_of(const std::optional<Problem>& problem) {
  return problem ? std::optional{problem->text} : std::nullopt;
}

/// The stable code of a reason.
std::optional<std::string_view> code_of(const std::optional<Problem>& problem) {
  return problem ? std::optional{problem->code()} : std::nullopt;
}

std::vector<ShownNode> shown(const std::vector<Node>& nodes) {
  std::vector<ShownNode> out;
  for (const auto& node : nodes) {
    out.push_back({node, std::string(1, node.type), fmt::format("{:04o}", node.mode)});
    if (!node.is_on_host) out.back().on_host = false;
  }
  return out;
}

/// The partitions of a GPU, with their names.
std::vector<ShownPartition> shown_partitions(const Gpu& gpu) {
  std::vector<ShownPartition> out;
  for (const auto& part : gpu.partitions) {
    out.push_back({.name = gpu.stable_name() + part.suffix,
                   .aliases = gpu.other_names(part),
                   .size = text_or_null(part.size),
                   .nodes = shown(part.nodes),
                   .left_out = text_of(part.left_out),
                   .left_out_code = code_of(part.left_out)});
  }
  return out;
}

ShownGpu shown(const Gpu& gpu) {
  return {.index = gpu.index,
          .name = gpu.stable_name(),
          .aliases = gpu.partitions.empty() ? gpu.other_names({}) : Texts{},
          .vendor = gpu.vendor,
          .id = text_or_null(gpu.id),
          .model = text_or_null(gpu.model),
          .pci_address = text_or_null(gpu.pci_address),
          .pci_id = text_or_null(gpu.pci_id),
          .physical_function = text_or_null(gpu.physical_function),
          .iommu_group = text_or_null(gpu.iommu_group),
          .driver = text_or_null(gpu.driver),
          .numa_node = gpu.numa_node,
          .mode = text_or_null(gpu.mode),
          .nodes = shown(gpu.whole.nodes),
          .iommufd_nodes = shown(gpu.iommufd_nodes),
          .other_nodes = shown(gpu.other_nodes),
          .partitions = shown_partitions(gpu),
          .left_out = text_of(gpu.whole.left_out),
          .left_out_code = code_of(gpu.whole.left_out),
          .attributes = gpu.attributes};
}

ShownKind shown(const Inventory& found) {
  ShownKind out{.kind = found.kind,
                .driver_version = text_or_null(found.driver_version),
                .not_ready = text_of(found.not_ready),
                .not_ready_code = code_of(found.not_ready),
                .control_nodes = shown(found.control_nodes),
                .fabric_nodes = shown(found.fabric_nodes),
                .files = found.files};
  for (const auto& node : found.missing) {
    out.missing.push_back({node.problem.text, node.problem.code()});
  }
  for (const auto& warning : found.warnings) {
    out.warnings.push_back(warning.text);
    out.warning_codes.push_back(warning.code());
  }
  for (const auto& gpu : found.gpus) out.gpus.push_back(shown(gpu));
  return out;
}

/// A line with the other names of a share.
std::string names_line(const Gpu& gpu, const Share& share) {
  const auto names = gpu.other_names(share);
  return names.empty() ? "" : as_line(fmt::format("  or: {}", fmt::join(names, ", ")));
}

}  // namespace

std::vector<ShownKind> shown(const std::vector<Inventory>& inventories) {
  std::vector<ShownKind> out;
  for (const auto& found : inventories) out.push_back(shown(found));
  return out;
}

std::string model_as_json(const std::vector<Inventory>& inventories) {
  return tools::json_text(DetectResult{.vendors = shown(inventories)});
}

std::string to_text(const Node& node) {
  return as_line(fmt::format("  {:<30} {} {}:{} {:04o} uid {} gid {}", node.path, node.type,
                             node.major, node.minor, node.mode, node.uid, node.gid));
}

std::string to_text(std::string_view heading, const std::vector<Node>& nodes) {
  std::string out;
  if (!nodes.empty()) out.append(heading);
  for (const auto& node : nodes) out += to_text(node);
  return out;
}

std::string heading(const Gpu& gpu) {
  const auto& name = gpu.stable_name().empty() ? gpu.place() : gpu.stable_name();
  auto out = gpu.noun + " " + name;
  if (!gpu.model.empty()) out += ", " + gpu.model;
  if (!gpu.id.empty() && !gpu.pci_address.empty()) out += ", PCI " + gpu.pci_address;
  if (gpu.numa_node) out += fmt::format(", NUMA node {}", *gpu.numa_node);
  if (!gpu.mode.empty()) out += ", " + gpu.mode;
  if (!gpu.physical_function.empty()) out += ", virtual function of " + gpu.physical_function;
  return as_line(out);
}

std::string to_text(const Gpu& gpu) {
  std::string out = heading(gpu);
  if (gpu.whole.left_out) out += as_line("  left out: " + gpu.whole.left_out->text);
  if (gpu.partitions.empty()) out += names_line(gpu, {});
  for (const auto& [name, value] : gpu.attributes) {
    out += as_line(fmt::format("  {}: {}", name, value));
  }
  out += to_text("", gpu.whole.nodes);
  out += to_text(as_line(fmt::format("  {}-iommufd, for use with iommufd", gpu.stable_name())),
                 gpu.iommufd_nodes);
  out += to_text("  other nodes, not handed out:\n", gpu.other_nodes);
  for (const auto& part : gpu.partitions) {
    const auto size = part.size.empty() ? "" : ", " + part.size;
    out += as_line(fmt::format("  partition {}{}{}", gpu.stable_name(), part.suffix, size));
    out += names_line(gpu, part);
    if (part.left_out) out += as_line("  left out: " + part.left_out->text);
    out += to_text("", part.nodes);
  }
  return out;
}

std::string model_as_text(const std::vector<Inventory>& inventories) {
  std::string out;
  for (const auto& found : inventories) {
    const auto& version = found.driver_version;
    out += as_line(
        fmt::format("{}, driver {}", found.kind, version.empty() ? "version unknown" : version));
    for (const auto& gpu : found.gpus) out += to_text(gpu);
    out += to_text("all containers:\n", found.control_nodes);
    out += to_text("no container:\n", found.fabric_nodes);
    if (!found.files.empty()) {
      out += fmt::format("files of the driver: {}\n", found.files.size());
    }
  }
  return out;
}

std::vector<std::string> qualified_names(const cdi::Spec& spec) {
  std::vector<std::string> names;
  for (const auto& device : spec.devices) {
    names.push_back(cdi::qualified_name(spec.kind, device.name));
  }
  return names;
}

std::string counts_of(const cdi::Spec& spec, const std::vector<Inventory>& inventories) {
  const auto counted = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::set<std::string_view> names;
  for (const auto& device : spec.devices) names.insert(device.name);
  std::size_t devices = 0;
  for (const auto& found : inventories) {
    if (found.kind != spec.kind) continue;
    for (const auto& gpu : found.gpus) {
      for (const auto& share : gpu.shares()) {
        devices += names.contains(gpu.stable_name() + share.suffix) ? 1U : 0U;
      }
    }
  }
  return fmt::format("{}, {}", counted(devices, "device"), counted(names.size(), "name"));
}

}  // namespace prepare
