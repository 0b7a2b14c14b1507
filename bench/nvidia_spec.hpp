// A spec with the shape of those that `nvidia-ctk` writes for a node of 8 GPUs: each GPU by index
// and by UUID, shares of the last one, and `all`; driver files as mounts for every device. Nodes
// have all members, so that no file of the host is read.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>

inline cdi::DeviceNode nvidia_node(std::string path, int major, int minor) {
  return {.path = std::move(path),
          .type = "c",
          .major = major,
          .minor = minor,
          .file_mode = 0666,
          .permissions = "rwm"};
}

inline cdi::Hook nvidia_hook(std::vector<std::string> args) {
  args.insert(args.begin(), "vendor-cdi-hook");
  return {.hook_name = "createContainer",
          .path = "/usr/bin/vendor-cdi-hook",
          .args = std::move(args),
          .env = {"VENDOR_CTK_DEBUG=false"}};
}

/// The nodes of a GPU, the links to them, and the mode of their directory.
inline cdi::ContainerEdits nvidia_gpu(int gpu) {
  const auto card = "card" + std::to_string(gpu + 1);
  const auto render = "renderD" + std::to_string(gpu + 128);
  const auto bus = "::/dev/dri/by-path/pci-0000:" + std::to_string(gpu + 1) + "b:00.0-";
  auto edits = cdi::ContainerEdits{
      .device_nodes = {nvidia_node("/dev/vendor" + std::to_string(gpu), 195, gpu),
                       nvidia_node("/dev/dri/" + card, 226, gpu + 1),
                       nvidia_node("/dev/dri/" + render, 226, gpu + 128)},
      .hooks = {nvidia_hook({"create-symlinks", "--link", "../" + card + bus + "card", "--link",
                             "../" + render + bus + "render"}),
                nvidia_hook({"chmod", "--mode", "755", "--path", "/dev/dri"})}};
  edits.device_nodes[1].gid = 44;
  edits.device_nodes[2].gid = 104;
  return edits;
}

/// The nodes of a share of the last GPU.
inline cdi::ContainerEdits nvidia_share(int share) {
  const auto caps = "/dev/vendor-caps/vendor-cap" + std::to_string(9 * share + 66);
  auto edits = nvidia_gpu(7);
  edits.device_nodes[1] = nvidia_node(caps, 237, 9 * share + 66);
  edits.device_nodes[2] = nvidia_node(caps + "0", 237, 9 * share + 67);
  edits.hooks.pop_back();
  return edits;
}

/// What every device needs: nodes, driver files, links to libraries.
inline cdi::ContainerEdits nvidia_driver() {
  const std::string folder = "/usr/lib/x86_64-linux-gnu/";
  cdi::ContainerEdits edits{
      .env = {"VENDOR_CTK_LIBCUDA_DIR=/usr/lib/x86_64-linux-gnu", "VENDOR_VISIBLE_DEVICES=void"},
      .device_nodes = {
          nvidia_node("/dev/vendor-modeset", 195, 254), nvidia_node("/dev/vendor-uvm", 511, 0),
          nvidia_node("/dev/vendor-uvm-tools", 511, 1), nvidia_node("/dev/vendorctl", 195, 255)}};
  std::vector<std::string> links{"create-symlinks"};
  for (int i = 0; i < 55; ++i) {
    const auto library = "libvendor-part" + std::to_string(i) + ".so";
    const auto path = folder + library + ".570.133.20";
    edits.mounts.push_back({.host_path = path,
                            .container_path = path,
                            .options = {"ro", "nosuid", "nodev", "rbind", "rprivate"}});
    if (i % 10 != 0) continue;
    links.push_back("--link");
    links.push_back(library + ".1::" + folder + library);
  }
  edits.hooks = {nvidia_hook(std::move(links)),
                 nvidia_hook({"enable-cuda-compat", "--host-driver-version=570.133.20"}),
                 nvidia_hook({"update-ldcache", "--folder", folder, "--folder", folder + "vdpau"}),
                 nvidia_hook({"disable-device-node-modification"})};
  return edits;
}

/// The whole spec, for CDI 0.5.0, the newest version that the Go reference of Debian 12 reads.
inline cdi::Spec nvidia_spec() {
  cdi::Spec spec{.version = "0.5.0", .kind = "vendor.example.com/gpu"};
  spec.container_edits = nvidia_driver();
  cdi::ContainerEdits all;
  const auto add = [&](const std::string& name, const std::string& uuid,
                       const cdi::ContainerEdits& edits) {
    spec.devices.push_back({.name = name, .container_edits = edits});
    spec.devices.push_back({.name = uuid, .container_edits = edits});
    for (const auto& node : edits.device_nodes) all.device_nodes.push_back(node);
    for (const auto& hook : edits.hooks) all.hooks.push_back(hook);
  };
  for (int gpu = 0; gpu < 8; ++gpu) {
    const auto number = std::to_string(gpu);
    add(number, "GPU-0000000" + number + "-9f2f-4d3c-8b4f-0c6a0b6b1f60", nvidia_gpu(gpu));
  }
  for (int share = 0; share < 3; ++share) {
    const auto number = std::to_string(share);
    add("7:" + number, "MIG-0000000" + number + "-5d1c-5e0f-9d1c-4b5a6c7d8e90",
        nvidia_share(share));
  }
  spec.devices.push_back({.name = "all", .container_edits = std::move(all)});
  return spec;
}
