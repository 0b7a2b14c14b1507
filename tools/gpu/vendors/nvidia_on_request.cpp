// Finds kinds of NVIDIA's nodes that specs contain only with `--kind`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "nvidia_on_request.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "../model/driver_file.hpp"
#include "../model/fault.hpp"
#include "../model/pci.hpp"
#include "nvidia.hpp"

namespace prepare::on_request {

namespace {

/// The device "all" of a kind, without nodes.
Gpu device_all(std::string_view vendor) {
  return {.vendor = std::string{vendor}, .id = "all", .driver = std::string{vendor}};
}

/// A character device whose major number belongs to a driver with such a name. Unlike the nodes of
/// GPUs, these have no other record of their numbers.
cdi::Result<Node> node_of_driver(const tools::HostTree& tree, const CharMajors& majors,
                                 const std::string& path, std::string_view driver) {
  auto node = tree.node(path);
  if (!node) return std::move(node).error();
  const auto fault = [&](std::string_view what) {
    return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("{} is {}", path, what)};
  };
  if (node->type != 'c') return fault("not a character device");
  if (majors.has(node->major, driver)) return Node{std::move(*node)};
  return fault(fmt::format("{}:{}, but /proc/devices lists no {} with that major", node->major,
                           node->minor, driver));
}

/// Adds the nodes in a directory whose names begin with `prefix`, in the order of names.
void add_nodes_of_driver(const tools::HostTree& tree, const std::string& directory,
                         std::string_view prefix, std::string_view driver, Inventory& found) {
  const CharMajors majors{tree};
  for (const auto& name : tree.list(directory)) {
    if (!name.starts_with(prefix)) continue;
    const auto path = directory + "/" + name;
    if (!tree.node(path)) continue;  // a directory such as nvidia-caps
    add_node(found.gpus.front().whole.nodes, path, node_of_driver(tree, majors, path, driver),
             Fault::fabric_node, found.warnings);
  }
}

/// The inventory, without its device if that has no nodes.
Inventory finished(Inventory found) {
  found.env = {nvidia::no_second_injection};
  if (found.gpus.front().whole.nodes.empty()) found.gpus.clear();
  return found;
}

}  // namespace

Inventory storage(const tools::HostTree& tree) {
  Inventory found{.gpus = {device_all("nvidia")}};
  add_nodes_of_driver(tree, "/dev", "nvidia-fs", "nvidia-fs", found);
  for (const std::string path : {"/etc/cufile.json", "/run/udev"}) {
    const auto real = tree.real_path(path);
    if (!real) continue;
    found.files.push_back(
        {.kind = DriverFile::Kind::configuration, .host_path = *real, .container_path = path});
  }
  return finished(std::move(found));
}

Inventory copies(const tools::HostTree& tree) {
  Inventory found{.gpus = {device_all("nvidia")}};
  add_nodes_of_driver(tree, "/dev", "gdrdrv", "gdrdrv", found);
  return finished(std::move(found));
}

Inventory switches(const tools::HostTree& tree) {
  Inventory found{.gpus = {device_all("nvidia")}};
  add_nodes_of_driver(tree, "/dev", "nvidia-nvswitch", "nvidia-nvswitch", found);
  return finished(std::move(found));
}

Inventory network(const tools::HostTree& tree) {
  Inventory found{.gpus = {device_all("mellanox")}};
  auto& nodes = found.gpus.front().whole.nodes;
  const std::string directory = "/dev/infiniband/";
  for (const auto& name : tree.list("/sys/class/infiniband_verbs")) {
    if (!name.starts_with("uverbs")) continue;
    add_node(nodes, directory + name,
             sysfs_node(tree, "/sys/class/infiniband_verbs/" + name, directory + name),
             Fault::udev_node, found.warnings);
  }
  if (nodes.empty()) return finished(std::move(found));
  add_node(nodes, directory + "rdma_cm",
           sysfs_node(tree, "/sys/class/misc/rdma_cm", directory + "rdma_cm"), Fault::udev_node,
           found.warnings);
  return finished(std::move(found));
}

Inventory channels(const tools::HostTree& tree) {
  Inventory found{.env = {nvidia::no_second_injection}};
  nvidia::add_imex_channels(tree, CharMajors{tree}, found);
  for (auto& node : std::exchange(found.fabric_nodes, {})) {
    Gpu channel{.vendor = "nvidia", .id = std::to_string(node.minor), .driver = "nvidia"};
    channel.whole.nodes.push_back(std::move(node));
    found.gpus.push_back(std::move(channel));
  }
  return found;
}

bool is_of_other_kind(const Node& node) {
  for (const std::string_view prefix : {"nvidia-fs", "nvidia-nvswitch", "nvidia-nvlink"}) {
    if (node.path.starts_with("/dev/" + std::string{prefix})) return true;
  }
  return false;
}

Inventory management(const tools::HostTree& tree) {
  Inventory found{.driver_version = tree.line("/sys/module/nvidia/version"),
                  .gpus = {device_all("nvidia")},
                  .is_management = true};
  add_nodes_of_driver(tree, "/dev", "nvidia", "nvidia", found);
  std::erase_if(found.gpus.front().whole.nodes, is_of_other_kind);
  add_nodes_of_driver(tree, "/dev/nvidia-caps", "nvidia-cap", "nvidia-caps", found);
  add_nodes_of_driver(tree, "/dev/nvidia-caps-imex-channels", "channel",
                      "nvidia-caps-imex-channels", found);
  return finished(std::move(found));
}

bool is_kind(std::string_view kind) {
  return std::any_of(std::begin(kinds), std::end(kinds),
                     [&](const Kind& one) { return one.name == kind; });
}

std::optional<Inventory> detect(const tools::HostTree& tree, std::string_view kind) {
  for (const auto& one : kinds) {
    if (one.name != kind) continue;
    auto found = one.detect(tree);
    found.kind = kind;
    return found;
  }
  return std::nullopt;
}

std::string why_none(const Inventory& found) {
  if (!found.warnings.empty()) return found.warnings.front().text;
  for (const auto& one : kinds) {
    if (one.name == found.kind) return std::string{one.if_none};
  }
  return {};
}

}  // namespace prepare::on_request
