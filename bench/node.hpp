// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_BENCH_NODE_HPP
#define CDI_BENCH_NODE_HPP

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>

/// A spec of `count` devices like those of GPU vendors: nodes and hooks for each, mounts for all.
inline cdi::Spec gpu_spec(const std::string& kind, int count) {
  cdi::Spec spec{.version = "0.7.0", .kind = kind};
  for (int i = 0; i < 60; ++i) {
    const auto path = "/usr/lib/x86_64-linux-gnu/libvendor-" + std::to_string(i) + ".so.1";
    spec.container_edits.mounts.push_back(
        {.host_path = path, .container_path = path, .options = {"ro", "nosuid", "nodev", "bind"}});
  }
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    cdi::ContainerEdits edits{
        .env = {"VENDOR_DEVICE_" + number + "=present"},
        .device_nodes = {{.path = "/dev/vendor" + number,
                          .type = "c",
                          .major = 195,
                          .minor = i,
                          .file_mode = 0666},
                         {.path = "/dev/dri/card" + number,
                          .type = "c",
                          .major = 226,
                          .minor = i,
                          .file_mode = 0660}},
        .hooks = {{.hook_name = "createContainer",
                   .path = "/usr/bin/vendor-hook",
                   .args = {"vendor-hook", "create-symlinks", "--device", number}}},
        .additional_gids = {44, 992}};
    spec.devices.push_back({.name = "gpu-" + number, .container_edits = std::move(edits)});
  }
  return spec;
}

/// A registry of `devices` devices, one hundred in a spec.
inline cdi::Registry gpu_registry(int devices) {
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  for (int i = 0; i < devices; i += 100) {
    const auto kind = "vendor" + std::to_string(i / 100) + ".example.com/gpu";
    specs.push_back(std::make_shared<const cdi::LoadedSpec>(
        cdi::LoadedSpec{.spec = gpu_spec(kind, 100), .path = kind}));
  }
  return cdi::Registry{std::move(specs)};
}

#endif  // CDI_BENCH_NODE_HPP
