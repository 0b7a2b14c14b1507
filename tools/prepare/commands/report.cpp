// The GPUs on a host as text and JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "report.hpp"

#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"

namespace prepare {

namespace {

template <typename T>
Json number_or_null(const std::optional<T>& number) {
  return number ? Json(*number) : Json(nullptr);
}

/// The stable code of a reason.
Json code_of(const std::optional<Problem>& problem) {
  return problem ? Json(problem->code()) : Json(nullptr);
}

/// The partitions of a GPU, with their names.
Json partitions_json(const Gpu& gpu) {
  Json list = Json::array();
  for (const auto& part : gpu.partitions) {
    list.push_back(Json{{"name", gpu.stable_name() + part.suffix},
                        {"aliases", gpu.other_names(part)},
                        {"size", text_or_null(part.size)},
                        {"nodes", to_json(part.nodes)},
                        {"leftOut", text_of(part.left_out)},
                        {"leftOutCode", code_of(part.left_out)}});
  }
  return list;
}

/// A line with the other names of a share.
std::string names_line(const Gpu& gpu, const Share& share) {
  const auto names = gpu.other_names(share);
  return names.empty() ? "" : as_line(fmt::format("  or: {}", fmt::join(names, ", ")));
}

}  // namespace

Json text_of(const std::optional<Problem>& problem) {
  return problem ? Json(problem->text) : Json(nullptr);
}

Json to_json(const Node& node) {
  Json object{{"path", node.path},
              {"type", std::string(1, node.type)},
              {"major", node.major},
              {"minor", node.minor},
              {"uid", node.uid},
              {"gid", node.gid},
              {"mode", fmt::format("{:04o}", node.mode)}};
  if (!node.is_on_host) object["onHost"] = false;
  if (!node.by_path.empty()) object["byPath"] = node.by_path;
  return object;
}

Json to_json(const std::vector<Node>& nodes) {
  Json list = Json::array();
  for (const auto& node : nodes) list.push_back(to_json(node));
  return list;
}

Json to_json(const Gpu& gpu) {
  Json object{
      {"index", number_or_null(gpu.index)},
      {"name", gpu.stable_name()},
      {"aliases", gpu.partitions.empty() ? gpu.other_names({}) : std::vector<std::string>{}},
      {"vendor", gpu.vendor},
      {"id", text_or_null(gpu.id)},
      {"model", text_or_null(gpu.model)},
      {"pciAddress", text_or_null(gpu.pci_address)},
      {"pciId", text_or_null(gpu.pci_id)},
      {"physicalFunction", text_or_null(gpu.physical_function)},
      {"iommuGroup", text_or_null(gpu.iommu_group)},
      {"driver", text_or_null(gpu.driver)},
      {"numaNode", number_or_null(gpu.numa_node)},
      {"mode", text_or_null(gpu.mode)},
      {"nodes", to_json(gpu.whole.nodes)},
      {"iommufdNodes", to_json(gpu.iommufd_nodes)},
      {"otherNodes", to_json(gpu.other_nodes)},
      {"partitions", partitions_json(gpu)},
      {"leftOut", text_of(gpu.whole.left_out)},
      {"leftOutCode", code_of(gpu.whole.left_out)}};
  if (!gpu.attributes.empty()) object["attributes"] = Json(gpu.attributes);
  return object;
}

Json to_json(const std::vector<DriverFile>& files) {
  Json list = Json::array();
  for (const auto& file : files) {
    list.push_back(Json{
        {"path", file.host_path}, {"containerPath", file.container_path}, {"links", file.links}});
  }
  return list;
}

Json to_json(const Inventory& found) {
  Json gpus = Json::array();
  for (const auto& gpu : found.gpus) gpus.push_back(to_json(gpu));
  Json missing = Json::array();
  for (const auto& node : found.missing) {
    missing.push_back(Json{{"reason", node.problem.text}, {"code", node.problem.code()}});
  }
  Json warnings = Json::array();
  Json codes = Json::array();
  for (const auto& warning : found.warnings) {
    warnings.push_back(warning.text);
    codes.push_back(warning.code());
  }
  return {{"kind", found.kind},
          {"driverVersion", text_or_null(found.driver_version)},
          {"notReady", text_of(found.not_ready)},
          {"notReadyCode", code_of(found.not_ready)},
          {"controlNodes", to_json(found.control_nodes)},
          {"fabricNodes", to_json(found.fabric_nodes)},
          {"files", to_json(found.files)},
          {"missing", missing},
          {"warnings", warnings},
          {"warningCodes", codes},
          {"gpus", gpus}};
}

Json vendors_json(const std::vector<Inventory>& inventories) {
  Json vendors = Json::array();
  for (const auto& found : inventories) vendors.push_back(to_json(found));
  return vendors;
}

std::string model_as_json(const std::vector<Inventory>& inventories) {
  return json_text(result_json({{"vendors", vendors_json(inventories)}}));
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
