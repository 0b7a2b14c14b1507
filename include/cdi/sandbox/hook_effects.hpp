// The hooks of a plan as effects, before anything is made in their place.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SANDBOX_HOOK_EFFECTS_HPP
#define CDI_SANDBOX_HOOK_EFFECTS_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/nvidia/container_outline.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/nvidia/hook_lowering.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The effects of one hook.
struct HookEffects {
  const Planned<Hook>* hook = nullptr;
  HookClass hook_class{};
  RootChanges changes{};
};

/// The hooks of a plan: those that are understood, and errors for the others.
struct ReadHooks {
  std::vector<HookEffects> effects{};
  std::vector<std::pair<const Planned<Hook>*, Error>> unknown{};
};

inline ReadHooks read_hooks(const Plan& plan, ContainerOutline container) {
  ReadHooks out;
  if (plan.hooks.empty()) return out;
  const SortedOutline outline{std::move(container)};
  for (const auto& planned : plan.hooks) {
    const auto command = command_of(planned.edit);
    const auto point = oci::parse_hook_point(planned.edit.hook_name);
    if (!point) continue;  // not in a plan of valid specs
    auto lowered = lower_hook(command, *point, outline);
    if (lowered) {
      out.effects.push_back({&planned, classify_hook(command), std::move(lowered->changes)});
    } else {
      out.unknown.emplace_back(&planned, std::move(lowered).error());
    }
  }
  return out;
}

/// Returns an error about hooks that are not understood: the first ones, with their reasons.
inline Error unknown_hooks(const ReadHooks& hooks) {
  constexpr std::size_t max_listed = 8;
  const auto& first = *hooks.unknown.front().first;
  Error out{.code = Errc::unsupported,
            .advice = "keep unknown hooks, or remove them from the spec",
            .where = first.origin.where,
            .position = {.file = first.origin.file, .line = first.origin.line}};
  std::size_t listed = 0;
  for (const auto& [hook, why] : hooks.unknown) {
    if (listed++ == max_listed) {
      out.message += "; and " + std::to_string(hooks.unknown.size() - max_listed) + " more";
      break;
    }
    out.message += (listed == 1 ? "the hook " : "; the hook ") + cdi::quoted(hook->edit.path) +
                   " cannot be replaced: " + why.message;
  }
  return out;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_HOOK_EFFECTS_HPP
