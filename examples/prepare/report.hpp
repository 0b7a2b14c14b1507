// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_REPORT_HPP
#define CDI_PREPARE_REPORT_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/name.hpp>
#include <cdi/spec.hpp>

#include "gpu.hpp"

// What detection found, for people and for programs.

namespace prepare {

using Json = nlohmann::ordered_json;

/// JSON text of a value; bytes that are no UTF-8, as a device could have them, are replaced.
inline std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename T>
Json number_or_null(const std::optional<T>& number) {
  return number ? Json(*number) : Json(nullptr);
}

inline Json to_json(const Node& node) {
  Json object{{"path", node.path},
              {"type", std::string(1, node.type)},
              {"major", node.major},
              {"minor", node.minor},
              {"uid", node.uid},
              {"gid", node.gid},
              {"mode", fmt::format("{:04o}", node.mode)}};
  if (!node.by_path.empty()) object["by_path"] = node.by_path;
  return object;
}

inline Json to_json(const std::vector<Node>& nodes) {
  Json list = Json::array();
  for (const auto& node : nodes) list.push_back(to_json(node));
  return list;
}

/// The partitions of a GPU, with the names by which they are asked for.
inline Json partitions_json(const Gpu& gpu) {
  Json list = Json::array();
  for (const auto& part : gpu.partitions) {
    list.push_back(Json{{"name", gpu.stable_name() + part.suffix},
                        {"nodes", to_json(part.nodes)},
                        {"left_out", text_or_null(part.left_out.value_or(""))}});
  }
  return list;
}

inline Json to_json(const Gpu& gpu) {
  return {{"index", number_or_null(gpu.index)},
          {"name", gpu.stable_name()},
          {"aliases", gpu.aliases},
          {"vendor", gpu.vendor},
          {"id", text_or_null(gpu.id)},
          {"model", text_or_null(gpu.model)},
          {"pci_address", text_or_null(gpu.pci_address)},
          {"pci_id", text_or_null(gpu.pci_id)},
          {"physical_function", text_or_null(gpu.physical_function)},
          {"iommu_group", text_or_null(gpu.iommu_group)},
          {"driver", text_or_null(gpu.driver)},
          {"numa_node", number_or_null(gpu.numa_node)},
          {"mode", text_or_null(gpu.mode)},
          {"nodes", to_json(gpu.nodes)},
          {"iommufd_nodes", to_json(gpu.iommufd_nodes)},
          {"other_nodes", to_json(gpu.other_nodes)},
          {"partitions", partitions_json(gpu)},
          {"left_out", text_or_null(gpu.left_out.value_or(""))}};
}

inline Json to_json(const Inventory& found) {
  Json gpus = Json::array();
  for (const auto& gpu : found.gpus) gpus.push_back(to_json(gpu));
  return {{"kind", found.kind},
          {"driver_version", text_or_null(found.driver_version)},
          {"not_ready", text_or_null(found.not_ready.value_or(""))},
          {"control_nodes", to_json(found.control_nodes)},
          {"fabric_nodes", to_json(found.fabric_nodes)},
          {"library_directories", found.library_directories},
          {"warnings", found.warnings},
          {"gpus", gpus}};
}

/// The whole model: `{"vendors": [...]}`.
inline std::string model_as_json(const std::vector<Inventory>& inventories) {
  Json vendors = Json::array();
  for (const auto& found : inventories) vendors.push_back(to_json(found));
  return json_text({{"vendors", vendors}});
}

inline std::string to_text(const Node& node) {
  return fmt::format("  {:<30} {} {}:{} {:04o} uid {} gid {}\n", node.path, node.type, node.major,
                     node.minor, node.mode, node.uid, node.gid);
}

/// The heading, when there is one below it, and a line for each node.
inline std::string to_text(std::string_view heading, const std::vector<Node>& nodes) {
  std::string out;
  if (!nodes.empty()) out.append(heading);
  for (const auto& node : nodes) out += to_text(node);
  return out;
}

inline std::string to_text(const Gpu& gpu) {
  std::string out = "GPU ";
  if (gpu.index) out += std::to_string(*gpu.index) + ": ";
  out += gpu.stable_name() + ", ";
  out += gpu.model.empty() ? "model unknown" : gpu.model;
  if (!gpu.id.empty() && !gpu.pci_address.empty()) out += ", PCI " + gpu.pci_address;
  if (gpu.numa_node) out += fmt::format(", NUMA node {}", *gpu.numa_node);
  if (!gpu.mode.empty()) out += ", " + gpu.mode;
  if (!gpu.physical_function.empty()) out += ", virtual function of " + gpu.physical_function;
  if (gpu.left_out) out += "\n  left out: " + *gpu.left_out;
  out += "\n";
  out += to_text("", gpu.nodes);
  out += to_text("  or, by iommufd:\n", gpu.iommufd_nodes);
  out += to_text("  not handed out with it:\n", gpu.other_nodes);
  for (const auto& part : gpu.partitions) {
    out += fmt::format("  partition {}{}\n", gpu.stable_name(), part.suffix);
    if (part.left_out) out += "  left out: " + *part.left_out + "\n";
    out += to_text("", part.nodes);
  }
  return out;
}

/// The whole model, for reading.
inline std::string model_as_text(const std::vector<Inventory>& inventories) {
  std::string out;
  for (const auto& found : inventories) {
    out += found.kind + ", driver ";
    out += (found.driver_version.empty() ? "version unknown" : found.driver_version) + "\n";
    for (const auto& gpu : found.gpus) out += to_text(gpu);
    out += to_text("all containers:\n", found.control_nodes);
    out += to_text("no container:\n", found.fabric_nodes);
    for (const auto& directory : found.library_directories) out += "libraries: " + directory + "\n";
  }
  return out;
}

/// The names by which the devices of a spec are asked for.
inline std::vector<std::string> qualified_names(const cdi::Spec& spec) {
  std::vector<std::string> names;
  for (const auto& device : spec.devices) {
    names.push_back(cdi::qualified_name(spec.kind, device.name));
  }
  return names;
}

/// What was written: `{"path": ..., "devices": [...], "left_out": [...]}`.
inline std::string written_as_json(const std::string& path, const cdi::Spec& spec,
                                   const Inventory& found) {
  Json left_out = Json::array();
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      if (!share.left_out) continue;
      left_out.push_back(Json{{"name", gpu.stable_name() + share.suffix},
                              {"pci_address", text_or_null(gpu.pci_address)},
                              {"reason", *share.left_out}});
    }
  }
  return json_text(
      {{"path", text_or_null(path)}, {"devices", qualified_names(spec)}, {"left_out", left_out}});
}

/// What was written: the path, then a name a line.
inline std::string written_as_text(const std::string& path, const cdi::Spec& spec) {
  std::string out = path + "\n";
  for (const auto& name : qualified_names(spec)) out += name + "\n";
  return out;
}

}  // namespace prepare

#endif  // CDI_PREPARE_REPORT_HPP
