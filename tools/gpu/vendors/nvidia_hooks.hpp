// The hooks of NVIDIA's container toolkit, if it is installed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/spec.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../model/driver_file.hpp"
#include "../model/node.hpp"
#include "../model/profile.hpp"

// Unlike mounts, they can create links in a container and run ldconfig.

namespace prepare::nvidia {

/// The toolkit program that runtimes run as a hook.
struct HookProgram {
  std::string path{};
  std::vector<std::string> arguments{};  // before the hook name
  bool has_cuda_compat = false;          // added in later releases
  bool has_node_modification = false;
  bool has_profile = false;
};

inline constexpr std::string_view cuda_compat = "enable-cuda-compat";
inline constexpr std::string_view node_modification = "disable-device-node-modification";
inline constexpr std::string_view profile = "update-application-profile";

/// The hook program of the host; nullopt if no toolkit is installed. The file is searched for hook
/// names, because a hook unknown to the program would keep containers from starting.
inline std::optional<HookProgram> find_hook_program(const tools::HostTree& tree) {
  constexpr std::string_view directories[] = {"/usr/bin", "/usr/local/bin",
                                              "/usr/local/nvidia/toolkit"};
  constexpr std::size_t size_limit = 256 << 20;
  for (const std::string_view name : {"nvidia-cdi-hook", "nvidia-ctk"}) {
    for (const auto directory : directories) {
      auto path = fmt::format("{}/{}", directory, name);
      if (!tree.is_program(path)) continue;
      HookProgram program{.path = std::move(path), .arguments = {std::string{name}}};
      if (name == "nvidia-ctk") program.arguments.emplace_back("hook");
      // The toolkit's container image installs scripts that run the program NAME.real.
      const auto real = program.path + ".real";
      const auto text = tree.read(tree.is_program(real) ? real : program.path, size_limit);
      const auto knows = [&](std::string_view hook) {
        return text && text->find(hook) != std::string::npos;
      };
      program.has_cuda_compat = knows(cuda_compat);
      program.has_node_modification = knows(node_modification);
      program.has_profile = knows(profile);
      return program;
    }
  }
  return std::nullopt;
}

/// A hook that runs before the first process of the container.
inline cdi::Hook hook(const HookProgram& program, std::string_view name,
                      const std::vector<std::string>& arguments) {
  cdi::Hook out{.hook_name = "createContainer", .path = program.path, .args = program.arguments};
  out.args.emplace_back(name);
  out.args.insert(out.args.end(), arguments.begin(), arguments.end());
  out.env.emplace_back("NVIDIA_CTK_DEBUG=false");
  return out;
}

inline void add_link(std::vector<std::string>& arguments, std::string_view target,
                     std::string_view link) {
  arguments.emplace_back("--link");
  arguments.push_back(fmt::format("{}::{}", target, link));
}

/// The target of a link from one path to another.
inline std::string link_target(const std::string& link, const std::string& target) {
  const auto name = target.rfind('/') + 1;
  return link.substr(0, link.rfind('/') + 1) == target.substr(0, name) ? target.substr(name)
                                                                       : target;
}

/// The hooks that make the files of a driver usable.
inline std::vector<cdi::Hook> driver_hooks(const HookProgram& program,
                                           const std::vector<DriverFile>& files, Profiles profiles,
                                           const std::string& driver_version) {
  std::vector<std::string> links;
  std::set<std::string> directories;
  for (const auto& file : files) {
    if (!file.profiles.shares(profiles)) continue;
    for (const auto& link : file.links) {
      add_link(links, link_target(link, file.container_path), link);
    }
    if (file.kind == DriverFile::Kind::library) directories.insert(directory_of(file));
  }
  std::vector<cdi::Hook> hooks;
  if (!links.empty()) hooks.push_back(hook(program, "create-symlinks", links));
  if (program.has_cuda_compat && !driver_version.empty()) {
    hooks.push_back(hook(program, cuda_compat, {"--host-driver-version=" + driver_version}));
  }
  std::vector<std::string> folders;
  for (const auto& directory : directories) {
    folders.insert(folders.end(), {"--folder", directory});
  }
  if (!folders.empty()) hooks.push_back(hook(program, "update-ldcache", folders));
  if (program.has_node_modification) hooks.push_back(hook(program, node_modification, {}));
  // Otherwise, EGL and Vulkan would see GPUs whose nodes the container lacks.
  if (program.has_profile && profiles.shares(graphics)) {
    hooks.push_back(hook(program, profile, {}));
  }
  return hooks;
}

/// The hook that creates links to DRM nodes in /dev/dri/by-path; nullopt without such links.
inline std::vector<cdi::Hook> node_hooks(const HookProgram& program, const std::vector<Node>& nodes,
                                         Profiles profiles) {
  std::vector<std::string> links;
  for (const auto& node : nodes) {
    if (node.by_path.empty() || !node.profiles.shares(profiles)) continue;
    add_link(links, ".." + node.path.substr(node.path.rfind('/')), node.by_path);
  }
  if (links.empty()) return {};
  return {hook(program, "create-symlinks", links)};
}

}  // namespace prepare::nvidia
