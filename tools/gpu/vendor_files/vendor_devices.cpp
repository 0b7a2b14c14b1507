// The devices of a vendor file on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "vendor_devices.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../../kit/cdi_specs/host_faults.hpp"
#include "../model/pci.hpp"
#include "vendor_edits.hpp"

namespace prepare {

namespace {

/// The directory of a node in sysfs, which the kernel makes for each node of a driver.
std::string sysfs_of(const Node& node) {
  return fmt::format("/sys/dev/{}/{}:{}", node.type == 'b' ? "block" : "char", node.major,
                     node.minor);
}

/// The device that a node belongs to, as a directory in sysfs; empty if it is unknown.
std::string parent_of(const tools::HostTree& tree, const Node& node) {
  return tree.real_path(sysfs_of(node) + "/device").value_or("");
}

/// The PCI address in a directory of sysfs; empty for a device on another bus.
std::string pci_address_in(std::string_view directory) {
  auto parts = tools::split(directory, "/");
  const auto found = std::find_if(parts.rbegin(), parts.rend(), [](const std::string& part) {
    return parse_pci_address(part).has_value();
  });
  return found == parts.rend() ? std::string{} : std::move(*found);
}

/// Adds a node unless its path is in the list.
void add_once(std::vector<Node>& nodes, Node node) {
  const bool is_there = std::any_of(nodes.begin(), nodes.end(),
                                    [&](const Node& one) { return one.path == node.path; });
  if (!is_there) nodes.push_back(std::move(node));
}

/// Whether a text matches one of several patterns.
bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_glob(pattern, text); });
}

}  // namespace

VendorSearch::VendorSearch(const tools::HostTree& tree, const VendorFile& file)
    : tree_{tree}, file_{file}, has_sysfs_{tree.exists("/sys/dev/char")} {
  found_.kind = file.kind;
  if (!file.is_default) found_.vendor_file = file.path;
  if (!file.module.empty()) {
    found_.driver_version = tree.line(fmt::format("/sys/module/{}/version", file.module));
  }
}

Inventory VendorSearch::run() {
  auto fault = find_shared();
  for (const auto find : {&VendorSearch::find_groups, &VendorSearch::find_siblings}) {
    auto other = (this->*find)();
    if (!fault) fault = std::move(other);
  }
  for (auto& [key, group] : groups_) found_.gpus.push_back(device_of(std::move(group)));
  if (fault) fault_ = fault->text;
  if (fault) found_.not_ready = std::move(*fault);
  drop_shared_ids(found_, "name");
  found_.edits = shared_edits_of(tree_, file_);
  if (!found_.not_ready) found_.not_ready = missing_path(found_.edits);
  return std::move(found_);
}

std::string VendorSearch::why_none() const {
  if (!fault_.empty()) return fault_;
  if (!excluded_.empty()) {
    return fmt::format("{} matches `devices`, but its attributes differ from `match`", excluded_);
  }
  std::string patterns;
  for (const auto& glob : file_.devices) {
    patterns.append(patterns.empty() ? "" : " or ").append(glob.text());
  }
  return fmt::format("no node matches {}: is the driver loaded?", patterns);
}

VendorSearch::Key VendorSearch::key_of(const GlobMatch& match) {
  if (!match.number) return {static_cast<std::size_t>(-1), match.path};
  return {match.number->size(), *match.number};
}

std::optional<Problem> VendorSearch::missing_path(const cdi::ContainerEdits& edits) const {
  for (auto& fault : tools::host_faults(tree_, edits)) {
    if (fault.effect == tools::HostFault::Effect::may_fail) continue;
    return Problem{Fault::vendor_path, std::move(fault.error.message)};
  }
  return std::nullopt;
}

cdi::Result<Node> VendorSearch::checked(const std::string& path) const {
  auto there = tree_.node(path);
  if (!there) return std::move(there).error();
  Node node{std::move(*there)};
  if (!has_sysfs_ || tree_.exists(sysfs_of(node))) return node;
  return cdi::Error{.code = cdi::Errc::host,
                    .message = fmt::format("{} is {}:{}, and no driver has that number now", path,
                                           node.major, node.minor)};
}

std::optional<Problem> VendorSearch::add_nodes(const PathGlob& glob, bool is_optional,
                                               std::vector<Node>& nodes) const {
  const auto matches = glob.find(tree_);
  if (!matches) return problem(cdi::to_string(matches.error()));
  for (const auto& match : *matches) {
    if (is_shared(match.path)) continue;  // each container with a device gets it anyway
    auto node = checked(match.path);
    if (node) {
      add_once(nodes, std::move(*node));
    } else if (glob.is_literal() && !is_optional) {
      return problem(node.error().message);
    }
  }
  return std::nullopt;
}

std::optional<Problem> VendorSearch::find_shared() {
  for (const auto& nodes : file_.shared) {
    const PathGlob glob{nodes.paths.filled("")};
    if (auto fault = add_nodes(glob, nodes.is_optional, found_.control_nodes)) return fault;
  }
  return std::nullopt;
}

bool VendorSearch::is_shared(std::string_view path) const {
  return std::any_of(found_.control_nodes.begin(), found_.control_nodes.end(),
                     [&](const Node& node) { return node.path == path; });
}

bool VendorSearch::belongs(const Node& node) const {
  const DeviceFacts facts{.tree = &tree_, .sysfs = sysfs_of(node)};
  return std::all_of(file_.match.begin(), file_.match.end(), [&](const auto& condition) {
    const auto value = read_attribute(facts, condition.first);
    return value && matches_any(condition.second, *value);
  });
}

std::optional<Problem> VendorSearch::find_groups() {
  for (const auto& glob : file_.devices) {
    const auto matches = glob.find(tree_);
    if (!matches) return problem(cdi::to_string(matches.error()));
    for (const auto& match : *matches) {
      if (is_shared(match.path) || !seen_.insert(match.path).second) continue;
      auto node = checked(match.path);
      if (!node && tree_.node(match.path)) {
        fault_ = node.error().message;
        found_.warnings.push_back(problem(fault_));
      }
      if (!node) continue;
      if (!belongs(*node)) {
        excluded_ = match.path;
        continue;
      }
      auto& group = groups_[key_of(match)];
      group.number = match.number;
      group.nodes.push_back(std::move(*node));
    }
  }
  return std::nullopt;
}

std::optional<Problem> VendorSearch::find_siblings() {
  std::vector<Node> nodes;
  for (const auto& glob : file_.siblings) {
    if (auto fault = add_nodes(glob, true, nodes)) return fault;
  }
  std::map<std::string, std::vector<Node>> by_parent;
  for (auto& node : nodes) {
    auto parent = parent_of(tree_, node);
    if (!parent.empty()) by_parent[std::move(parent)].push_back(std::move(node));
  }
  if (by_parent.empty()) return std::nullopt;
  for (auto& [key, group] : groups_) {
    const auto found = by_parent.find(parent_of(tree_, group.nodes.front()));
    if (found == by_parent.end()) continue;
    for (const auto& node : found->second) add_once(group.nodes, node);
  }
  return std::nullopt;
}

DeviceFacts VendorSearch::facts_of(const Group& group) const {
  const auto& first = group.nodes.front();
  auto address = pci_address_in(parent_of(tree_, first));
  return {.tree = &tree_,
          .number = group.number,
          .node = first.path.substr(first.path.rfind('/') + 1),
          .pci_address = std::move(address),
          .sysfs = sysfs_of(first)};
}

Gpu VendorSearch::device_of(Group group) {
  const auto facts = facts_of(group);
  Gpu gpu{.vendor = file_.kind.substr(0, file_.kind.find('/')),
          .noun = "device",
          .pci_address = facts.pci_address,
          .driver = tree_.link_name(facts.sysfs + "/device/driver").value_or("")};
  if (group.number) gpu.index = tools::parse_number<std::uint32_t>(*group.number);
  add_bus_facts(facts, gpu);
  gpu.whole.nodes = std::move(group.nodes);
  gpu.whole.left_out = examine(facts, gpu);
  return gpu;
}

void VendorSearch::add_bus_facts(const DeviceFacts& facts, Gpu& gpu) {
  if (facts.pci_address.empty()) return;
  const auto directory = "/sys/bus/pci/devices/" + facts.pci_address;
  const auto number = [&](std::string_view name) {
    const auto line = facts.tree->line(fmt::format("{}/{}", directory, name));
    return tools::parse_number<std::uint32_t>(line, 16).value_or(0);
  };
  gpu.pci_id = fmt::format("{:04x}:{:04x}", number("vendor"), number("device"));
  const auto node = tools::parse_number<int>(facts.tree->line(directory + "/numa_node"));
  if (node && *node >= 0) gpu.numa_node = node;
}

std::optional<Problem> VendorSearch::examine(const DeviceFacts& facts, Gpu& gpu) {
  if (auto fault = set_names(facts, gpu)) return fault;
  set_texts(facts, gpu);
  if (auto fault = health_fault(facts)) return fault;
  if (auto fault = add_device_nodes(facts, gpu)) return fault;
  auto edits = device_edits_of(file_, facts);
  if (!edits) return problem(edits.error().message);
  gpu.whole.edits = std::move(*edits);
  return missing_path(gpu.whole.edits);
}

std::optional<Problem> VendorSearch::set_names(const DeviceFacts& facts, Gpu& gpu) {
  auto name = file_.name.expand(facts);
  if (!name) return Problem{Fault::vendor_name, name.error().message};
  const bool is_valid = cdi::is_device_name(*name) && *name != "all";
  const bool is_number = file_.name.text() == tools::Glob::index && gpu.index;
  if (!is_number || gpu.pci_address.empty()) gpu.id = is_valid ? *name : std::string{};
  for (const auto& alias : file_.aliases) {
    const auto text = alias.expand(facts);
    if (text && cdi::is_device_name(*text) && *text != "all") gpu.aliases.push_back(*text);
  }
  if (is_valid) return std::nullopt;
  return Problem{Fault::vendor_name, fmt::format("{} gives {}, which is not a device name",
                                                 file_.name.text(), cdi::quoted(*name))};
}

void VendorSearch::set_texts(const DeviceFacts& facts, Gpu& gpu) const {
  if (auto model = file_.model.expand(facts)) gpu.model = std::move(*model);
  for (const auto& [name, text] : file_.attributes) {
    if (auto value = text.expand(facts)) gpu.attributes.emplace(name, std::move(*value));
  }
}

std::optional<Problem> VendorSearch::health_fault(const DeviceFacts& facts) const {
  for (const auto& health : file_.health) {
    const auto value = read_attribute(facts, health.attribute);
    if (!value && !health.is_optional) {
      return Problem{Fault::vendor_health, value.error().message};
    }
    if (!value || (health.good.empty() ? !matches_any(health.bad, *value)
                                       : matches_any(health.good, *value))) {
      continue;
    }
    return Problem{Fault::vendor_health,
                   fmt::format("its {} is {}", health.attribute, cdi::quoted(*value))};
  }
  return std::nullopt;
}

std::optional<Problem> VendorSearch::add_device_nodes(const DeviceFacts& facts, Gpu& gpu) const {
  for (const auto& nodes : file_.nodes) {
    const auto path = nodes.paths.expand_path(facts);
    if (!path && nodes.is_optional) continue;
    if (!path) return problem(path.error().message);
    const PathGlob glob{*path};
    if (glob.fault()) return problem(fmt::format("{}: {}", *path, glob.fault()->message));
    if (auto fault = add_nodes(glob, nodes.is_optional, gpu.whole.nodes)) return fault;
  }
  return std::nullopt;
}

}  // namespace prepare
