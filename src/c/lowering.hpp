// The effects of a plan's hooks, for programs in C that do not run hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_C_LOWERING_HPP
#define CDI_C_LOWERING_HPP

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cdi/files/text_file.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>
#include <cdi/sandbox.hpp>

namespace c_library {

/// The hooks of a plan, lowered.
struct Lowered {
  cdi::LoweredHook all{};               // the joint effects of the lowered hooks
  std::vector<std::string> why_kept{};  // one text per hook; empty when the hook is lowered
  std::optional<std::string> params{};  // this host's, changed so that no nodes are created
};

/// Lowers the hooks of a plan. If a hook masks the driver's parameters, reads them from this host.
inline Lowered lower(const cdi::Plan& plan) {
  Lowered out;
  if (plan.hooks.empty()) return out;
  const cdi::SortedOutline outline{cdi::outline_of(plan)};
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
