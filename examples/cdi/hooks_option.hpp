// `cdi inject --hooks`: what happens to the hooks of the injected devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_HOOKS_OPTION_HPP
#define CDI_EXAMPLES_CDI_HOOKS_OPTION_HPP

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/hooks.hpp>

#include "lowered_config.hpp"
#include "output.hpp"
#include "request.hpp"

namespace detail {

/// Adds an error for each hook of some edits, which belong to `owner`.
inline void refuse_hooks_of(const cdi::LoadedSpec& spec, const cdi::ContainerEdits& edits,
                            const std::string& outer, const std::string& owner,
                            std::vector<cdi::Error>& errors) {
  for (std::size_t i = 0; i < edits.hooks.size(); ++i) {
    const auto& hook = edits.hooks[i];
    const auto id = cdi::classify_hook(cdi::command_of(hook));
    cdi::Error error{
        .code = cdi::Errc::refused,
        .message = fmt::format("--hooks refuse: {} has the hook {} of class {} at {}", owner,
                               cdi::quoted(hook.path), hook_class_name(id), hook.hook_name),
        .where = fmt::format("{}containerEdits.hooks[{}]", outer, i)};
    error.position = spec.locate(error.where);
    errors.push_back(std::move(error));
  }
}

}  // namespace detail

/// An error for each hook of the devices and of their specs.
inline std::vector<cdi::Error> refused_hooks(std::span<const cdi::ResolvedDevice> devices) {
  std::vector<cdi::Error> errors;
  std::vector<const cdi::LoadedSpec*> seen;
  for (const auto& found : devices) {
    const auto& spec = *found.spec;
    bool again = false;
    for (const auto* other : seen) again = again || other == &spec;
    if (!again) {
      seen.push_back(&spec);
      detail::refuse_hooks_of(spec, spec.spec.container_edits, "",
                              fmt::format("every device of {}", spec.spec.kind), errors);
    }
    detail::refuse_hooks_of(spec, found.device->container_edits,
                            fmt::format("devices[{}].", found.index()),
                            fmt::format("{}={}", spec.spec.kind, found.device->name), errors);
  }
  return errors;
}

/// Lowers the hooks of a config that was edited. Warns of the hooks that stay.
inline cdi::Result<void> lower_hooks(cdi::ConfigJson& config, const Request& request,
                                     const Output& output) {
  auto lowered = lower_hooks(config.text, request.config);
  if (!lowered) return lowered.error();
  if (!request.quiet) {
    for (const auto& kept : lowered->kept) output.warning(kept);
  }
  config.text = std::move(lowered->text);
  return {};
}

#endif  // CDI_EXAMPLES_CDI_HOOKS_OPTION_HPP
