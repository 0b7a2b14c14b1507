// The devices of a vendor file on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../host/path_glob.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/node.hpp"
#include "placeholders.hpp"
#include "vendor_file.hpp"

namespace prepare {

/// Finds the devices of a vendor file.
class VendorSearch {
 public:
  VendorSearch(const tools::HostTree& tree, const VendorFile& file);

  /// The devices on the host. If they cannot be listed, the error is why none works.
  Inventory run();

  /// Why there is no device; valid after `run`.
  std::string why_none() const;

 private:
  /// The nodes of one device.
  struct Group {
    std::optional<std::string> number{};
    std::vector<Node> nodes{};
  };

  /// Groups by number, and by path for nodes without one.
  using Key = std::tuple<std::size_t, std::string>;

  static Key key_of(const GlobMatch& match);

  static Problem problem(std::string text) { return {Fault::vendor_node, std::move(text)}; }

  /// Why containers cannot start with these edits; nullopt if they can.
  std::optional<Problem> missing_path(const cdi::ContainerEdits& edits) const;

  /// The node at a path, if a driver has its number now.
  cdi::Result<Node> checked(const std::string& path) const;

  /// Adds the nodes that a pattern matches. Returns why a required node is missing.
  std::optional<Problem> add_nodes(const PathGlob& glob, bool is_optional,
                                   std::vector<Node>& nodes) const;

  std::optional<Problem> find_shared();

  bool is_shared(std::string_view path) const;

  /// Whether a node belongs to a device of this file: its attributes have the values of `match`.
  bool belongs(const Node& node) const;

  std::optional<Problem> find_groups();

  /// Adds nodes of other drivers to the devices with the same parent.
  std::optional<Problem> find_siblings();

  DeviceFacts facts_of(const Group& group) const;

  Gpu device_of(Group group);

  static void add_bus_facts(const DeviceFacts& facts, Gpu& gpu);

  /// Fills in the name, nodes and edits of a device. Returns why it cannot be handed out.
  std::optional<Problem> examine(const DeviceFacts& facts, Gpu& gpu);

  /// Sets the stable name and the aliases. The number of a node is not a stable name if there is a
  /// PCI address, and the index is a name anyway.
  std::optional<Problem> set_names(const DeviceFacts& facts, Gpu& gpu);

  void set_texts(const DeviceFacts& facts, Gpu& gpu) const;

  std::optional<Problem> health_fault(const DeviceFacts& facts) const;

  std::optional<Problem> add_device_nodes(const DeviceFacts& facts, Gpu& gpu) const;

  const tools::HostTree& tree_;
  const VendorFile& file_;
  const bool has_sysfs_;
  Inventory found_{};
  std::string fault_{};           // of a node that is not a device
  std::string excluded_{};        // a node that `match` excludes
  std::set<std::string> seen_{};  // the nodes that `devices` matched so far
  std::map<Key, Group> groups_{};
};

}  // namespace prepare
