// What the hooks of a plan do, for programs in C that do not run them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_C_LOWERING_HPP
#define CDI_C_LOWERING_HPP

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cdi/files/text_file.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>

namespace c_library {

/// The hooks of a plan, lowered.
struct Lowered {
  cdi::LoweredHook all{};               // what the lowered ones do together
  std::vector<std::string> why_kept{};  // for each hook; empty when it is lowered
  std::optional<std::string> params{};  // of this host, with which nodes are not created
};

/// A container that is empty but for a plan. Every container has file systems of its own in the
/// first three places.
inline cdi::SortedOutline outline_of(const cdi::Plan& plan) {
  cdi::ContainerOutline outline{
      .mounts = {{"/dev", "tmpfs"}, {"/proc", "proc"}, {"/sys", "sysfs"}}};
  for (const auto& one : plan.mounts) {
    if (!one.overridden) outline.mounts.push_back({one.edit.container_path, one.edit.type});
  }
  for (const auto& [node, origin, overridden] : plan.device_nodes) {
    if (!overridden) outline.nodes.push_back({node.path, node.type, node.minor});
  }
  auto& environment = outline.environment.emplace();
  for (const auto& one : plan.env) environment.push_back(one.edit);
  return cdi::SortedOutline{std::move(outline)};
}

/// Lowers the hooks of a plan. Reads the parameters of this host's driver if a hook is about them.
inline Lowered lower(const cdi::Plan& plan) {
  Lowered out;
  if (plan.hooks.empty()) return out;
  const auto outline = outline_of(plan);
  std::vector<cdi::LoweredHook> lowered;
  for (const auto& [hook, origin, overridden] : plan.hooks) {
    const auto point = cdi::oci::parse_hook_point(hook.hook_name);
    auto one = cdi::lower_hook(cdi::command_of(hook), *point, outline);
    out.why_kept.push_back(one ? std::string{} : to_string(one.error()));
    if (one) lowered.push_back(*std::move(one));
  }
  out.all = cdi::merge(lowered);
  if (out.all.changes.masked_params) {
    if (const auto params = cdi::read_file(std::string{cdi::params_path})) {
      out.params = cdi::masked_params(*params);
    }
  }
  return out;
}

}  // namespace c_library

#endif  // CDI_C_LOWERING_HPP
