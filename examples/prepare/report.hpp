// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_REPORT_HPP
#define CDI_PREPARE_REPORT_HPP

#include <string>
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

inline Json to_json(const Node& node) {
  return {{"path", node.path},
          {"type", std::string(1, node.type)},
          {"major", node.major},
          {"minor", node.minor},
          {"uid", node.uid},
          {"gid", node.gid},
          {"mode", fmt::format("{:04o}", node.mode)}};
}

inline Json to_json(const std::vector<Node>& nodes) {
  Json list = Json::array();
  for (const auto& node : nodes) list.push_back(to_json(node));
  return list;
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

inline Json to_json(const Gpu& gpu) {
  return {{"index", gpu.index},
          {"name", gpu.stable_name()},
          {"vendor", gpu.vendor},
          {"id", text_or_null(gpu.id)},
          {"model", text_or_null(gpu.model)},
          {"pci_address", gpu.pci_address},
          {"driver", text_or_null(gpu.driver)},
          {"numa_node", gpu.numa_node ? Json(*gpu.numa_node) : Json(nullptr)},
          {"nodes", to_json(gpu.nodes)},
          {"left_out", text_or_null(gpu.left_out.value_or(""))}};
}

inline Json to_json(const Inventory& found) {
  Json gpus = Json::array();
  for (const auto& gpu : found.gpus) gpus.push_back(to_json(gpu));
  return {{"kind", found.kind},
          {"driver_version", text_or_null(found.driver_version)},
          {"control_nodes", to_json(found.control_nodes)},
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
  return fmt::format("  {:<22} {} {}:{} {:04o} uid {} gid {}\n", node.path, node.type, node.major,
                     node.minor, node.mode, node.uid, node.gid);
}

inline std::string to_text(const Gpu& gpu) {
  std::string out = fmt::format("GPU {}: {}, {}", gpu.index, gpu.stable_name(),
                                gpu.model.empty() ? "model unknown" : gpu.model);
  if (!gpu.id.empty()) out += ", PCI " + gpu.pci_address;
  if (gpu.numa_node) out += fmt::format(", NUMA node {}", *gpu.numa_node);
  if (gpu.left_out) out += "\n  left out: " + *gpu.left_out;
  out += "\n";
  for (const auto& node : gpu.nodes) out += to_text(node);
  return out;
}

/// The whole model, for reading.
inline std::string model_as_text(const std::vector<Inventory>& inventories) {
  std::string out;
  for (const auto& found : inventories) {
    out += found.kind + ", driver ";
    out += (found.driver_version.empty() ? "version unknown" : found.driver_version) + "\n";
    for (const auto& gpu : found.gpus) out += to_text(gpu);
    out += "all containers:\n";
    for (const auto& node : found.control_nodes) out += to_text(node);
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
    if (!gpu.left_out) continue;
    left_out.push_back(Json{
        {"name", gpu.stable_name()}, {"pci_address", gpu.pci_address}, {"reason", *gpu.left_out}});
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
