// GPUs as CDI edits and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gpu_edits.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../model/driver_file.hpp"

namespace prepare {

namespace {

/// The node, with all device numbers or with none. From a partial set, a runtime would keep a major
/// that changes at each boot.
cdi::DeviceNode device_node(const Node& node, const SpecOptions& options) {
  cdi::DeviceNode out{
      .path = node.path, .host_path = node.host_path, .file_mode = node.mode, .permissions = "rwm"};
  if (node.gid != 0) out.gid = node.gid;
  if (options.ask_host) return out;
  out.type = std::string(1, node.type);
  out.major = node.major;
  out.minor = node.minor;
  return out;
}

/// Whether a runtime would query the host for the numbers of a node that the host lacks.
bool is_asked_in_vain(const Node& node, const SpecOptions& options) {
  return options.ask_host && !node.is_on_host && node.profiles.shares(options.profiles);
}

/// Mounts a file or socket of the host at a path in the container. Sockets are mounted writable.
cdi::Mount mount(const DriverFile& file, const std::string& container_path) {
  cdi::Mount out{.host_path = file.host_path, .container_path = container_path};
  if (file.kind == DriverFile::Kind::socket) {
    out.options = {"nosuid", "nodev", "noexec", "rbind", "rprivate"};
  } else {
    out.options = {"ro", "nosuid", "nodev", "rbind", "rprivate"};
  }
  return out;
}

/// Adds the files of a driver. Without a hook for links, a file is also mounted under the names of
/// its links, which works even in images that are read-only or lack ldconfig.
void add_files(cdi::ContainerEdits& edits, const std::vector<DriverFile>& files,
               const SpecOptions& options) {
  std::set<std::string> directories;
  for (const auto& file : files) {
    if (!file.profiles.shares(options.profiles)) continue;
    edits.mounts.push_back(mount(file, file.container_path));
    if (file.kind == DriverFile::Kind::library) directories.insert(directory_of(file));
    if (options.hook_program) continue;
    for (const auto& link : file.links) edits.mounts.push_back(mount(file, link));
  }
  if (!options.library_path || directories.empty()) return;
  edits.env.push_back(fmt::format("LD_LIBRARY_PATH={}", fmt::join(directories, ":")));
}

/// The devices of a spec, in insertion order.
class DeviceList {
 public:
  explicit DeviceList(const SpecOptions& options) : options_{options} {}

  /// Adds a device, unless its name is in use or not valid, or it would have no nodes.
  void add(const std::string& name, const Share& share) {
    auto edits = share_edits(share, options_);
    if (edits.device_nodes.empty() || !cdi::is_device_name(name)) return;
    if (!taken_.insert(name).second) return;
    devices_.push_back({.name = name, .container_edits = std::move(edits)});
  }

  std::vector<cdi::Device> take() { return std::move(devices_); }

 private:
  const SpecOptions& options_;
  std::set<std::string> taken_{};
  std::vector<cdi::Device> devices_{};
};

}  // namespace

bool is_omitted(const Node& node, const SpecOptions& options) {
  return is_asked_in_vain(node, options) && !node.is_needed_by(options.profiles);
}

void add_nodes(cdi::ContainerEdits& edits, const std::vector<Node>& nodes,
               const SpecOptions& options) {
  auto& gids = edits.additional_gids;
  for (const auto& node : nodes) {
    if (!node.profiles.shares(options.profiles)) continue;
    const auto same = [&](const cdi::DeviceNode& other) {
      return other.path == node.path;
    };
    if (std::any_of(edits.device_nodes.begin(), edits.device_nodes.end(), same)) continue;
    edits.device_nodes.push_back(device_node(node, options));
    constexpr std::uint32_t others_read_write = 06;
    const bool open_to_all = (node.mode & others_read_write) == others_read_write;
    if (!open_to_all && node.gid != 0) gids.push_back(node.gid);
  }
  std::sort(gids.begin(), gids.end());
  gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
}

void merge(cdi::ContainerEdits& edits, const cdi::ContainerEdits& more) {
  const auto add_new = [](auto& list, const auto& added) {
    for (const auto& one : added) {
      if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
    }
  };
  add_new(edits.env, more.env);
  add_new(edits.device_nodes, more.device_nodes);
  add_new(edits.hooks, more.hooks);
  add_new(edits.mounts, more.mounts);
  add_new(edits.additional_gids, more.additional_gids);
}

cdi::ContainerEdits shared_edits(const Inventory& found, const SpecOptions& options) {
  cdi::ContainerEdits edits{.env = found.env};
  auto nodes = found.control_nodes;
  std::erase_if(nodes, [&](const Node& node) { return is_omitted(node, options); });
  add_nodes(edits, nodes, options);
  add_files(edits, found.files, options);
  if (options.hook_program && !found.files.empty()) {
    auto program = *options.hook_program;
    if (found.is_management) program.has_node_modification = program.has_profile = false;
    edits.hooks =
        nvidia::driver_hooks(program, found.files, options.profiles, found.driver_version);
  }
  merge(edits, found.edits);
  return edits;
}

cdi::ContainerEdits share_edits(const Share& share, const SpecOptions& options) {
  cdi::ContainerEdits edits;
  add_nodes(edits, share.nodes, options);
  if (options.hook_program)
    edits.hooks = nvidia::node_hooks(*options.hook_program, share.nodes, options.profiles);
  merge(edits, share.edits);
  return edits;
}

cdi::Spec gpu_spec(const Inventory& found, const SpecOptions& options) {
  DeviceList devices{options};
  std::vector<std::pair<std::string, Share>> by_index;
  std::vector<std::pair<std::string, Share>> by_alias;
  Share all;
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      if (share.left_out) continue;
      devices.add(gpu.stable_name() + share.suffix, share);
      if (auto name = gpu.index_name(share)) by_index.emplace_back(*name, share);
      for (const auto& alias : gpu.all_aliases(share)) by_alias.emplace_back(alias, share);
      const bool in_vain =
          std::any_of(share.nodes.begin(), share.nodes.end(),
                      [&](const Node& node) { return is_asked_in_vain(node, options); });
      if (in_vain) continue;
      all.nodes.insert(all.nodes.end(), share.nodes.begin(), share.nodes.end());
      merge(all.edits, share.edits);
    }
    if (gpu.whole.left_out || gpu.iommufd_nodes.empty()) continue;
    by_alias.emplace_back(gpu.stable_name() + "-iommufd", Share{.nodes = gpu.iommufd_nodes});
  }
  for (const auto& [name, share] : by_index) devices.add(name, share);
  for (const auto& [name, share] : by_alias) devices.add(name, share);
  if (options.all_device) devices.add("all", all);

  cdi::Spec spec{.kind = found.kind, .devices = devices.take()};
  spec.container_edits = shared_edits(found, options);
  return spec;
}

}  // namespace prepare
