// The effects of the hooks of a plan, and the hooks whose effects are not known.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOK_EFFECTS_HPP
#define CDI_SANDBOX_HOOK_EFFECTS_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The effects of one hook, or why it is not understood.
struct HookEffects {
  const Planned<Hook>* hook = nullptr;
  HookClass hook_class{};
  HookChanges changes{};
  std::optional<Error> unknown{};
};

/// Reads the effects of the hooks of a plan, which must outlive them. `environment` has the
/// variables of the container without the plan.
inline std::vector<HookEffects> read_hooks(const Plan& plan,
                                           const std::vector<std::string>& environment) {
  std::vector<HookEffects> out;
  if (plan.hooks.empty()) return out;
  HookedContainer container;
  for (const auto& [node, origin, overridden] : plan.device_nodes) {
    if (!overridden) container.add_node(node.path, node.type, node.minor);
  }
  for (const auto& variable : environment) container.add_variable(variable);
  for (const auto& one : plan.env) container.add_variable(one.edit);
  for (const auto& planned : plan.hooks) {
    const auto command = command_of(planned.edit);
    auto& made = out.emplace_back(HookEffects{&planned, classify_hook(command)});
    const auto point = oci::parse_hook_point(planned.edit.hook_name);
    if (!point) {
      made.unknown =
          Error{.code = Errc::unsupported,
                .message = "its hookName " + cdi::quoted(planned.edit.hook_name) + " is not known"};
      continue;
    }
    auto changes = changes_of(command, *point, container);
    if (changes) {
      made.changes = *std::move(changes);
    } else {
      made.unknown = std::move(changes).error();
    }
  }
  return out;
}

/// Returns why a hook needs nothing in a container.
inline std::string nothing_reason(const HookEffects& one) {
  if (one.changes.masks_params) {
    return "only a program that makes device nodes reads this setting of the driver, and a "
           "runtime cannot mount a file inside /proc";
  }
  return "this container needs nothing from this hook";
}

/// Returns an error about hooks that are not understood: the first ones, with their reasons.
inline std::optional<Error> unknown_hooks(const std::vector<HookEffects>& hooks) {
  constexpr std::size_t max_listed = 8;
  Error out{.code = Errc::unsupported,
            .advice = "remove these hooks from the spec, or use a runtime that runs hooks"};
  std::size_t count = 0;
  for (const auto& one : hooks) {
    if (!one.unknown) continue;
    const auto& origin = one.hook->origin;
    if (++count == 1) {
      out.where = origin.where;
      out.position = {.file = origin.file, .line = origin.line};
    }
    if (count > max_listed) continue;
    out.message += (count == 1 ? "the hook " : "; the hook ") + cdi::quoted(one.hook->edit.path) +
                   " cannot be replaced: " + one.unknown->message;
  }
  if (count == 0) return std::nullopt;
  if (count > max_listed) out.message += "; and " + std::to_string(count - max_listed) + " more";
  return out;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_HOOK_EFFECTS_HPP
