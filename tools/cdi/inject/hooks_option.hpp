// `cdi inject --hooks lower` and `refuse`; `without_hooks.hpp` has `replace`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_INJECT_HOOKS_OPTION_HPP
#define CDI_TOOLS_CDI_INJECT_HOOKS_OPTION_HPP

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/nvidia.hpp>

#include "../base/in_place.hpp"
#include "../base/output.hpp"
#include "../hooks/device_hooks.hpp"
#include "../hooks/lowered_config.hpp"
#include "device_files.hpp"

/// The error of `--hooks refuse` for a hook.
inline cdi::Error rejection_of(const DeviceHook& one) {
  const auto& kind = one.spec->spec.kind;
  const auto owner = one.device != nullptr ? cdi::qualified_name(kind, one.device->name)
                                           : fmt::format("every device of {}", kind);
  const auto id = cdi::classify_hook(cdi::command_of(*one.hook));
  return {
      .code = cdi::Errc::denied,
      .message = fmt::format("--hooks refuse: {} has the hook {} of class {} at {}", owner,
                             cdi::quoted(one.hook->path), hook_class_name(id), one.hook->hook_name),
      .where = one.where,
      .position = one.spec->locate(one.where)};
}

/// Reports the hooks of the devices, with their places in the files. Returns whether there are any.
inline bool report_hooks(std::span<const cdi::ResolvedDevice> devices, const Output& output) {
  const auto hooks = hooks_of(devices);
  const auto reported = std::min(hooks.size(), cdi::max_warnings);
  for (const auto& hook : std::span{hooks}.first(reported)) output.error(rejection_of(hook));
  if (reported < hooks.size()) {
    output.error({.message = fmt::format("--hooks refuse: the devices have {} more hooks",
                                         hooks.size() - reported)});
  }
  return !hooks.empty();
}

/// The config as the user wrote it; errors refer to places in this text.
struct GivenConfig {
  cdi::Document document;
  cdi::oci::Spec spec;
};

namespace detail {

inline cdi::Result<GivenConfig> read_given(const FileInPlace& file) {
  auto document = cdi::parse_json(file.text, file.path);
  if (!document) return document.error();
  auto spec = cdi::read<cdi::oci::Spec>(*document);
  if (!spec) return spec.error();
  return GivenConfig{*std::move(document), *std::move(spec)};
}

/// Warns about the hooks that stay, with their places in the config or in the device's spec file.
inline void warn_of_kept(const std::vector<KeptHook>& kept, GivenConfig& given,
                         std::span<const cdi::ResolvedDevice> devices, const Output& output) {
  std::optional<HookSearch> search;
  const auto reported = std::min(kept.size(), cdi::max_warnings);
  for (const auto& one : std::span{kept}.first(reported)) {
    auto warning = one.why;
    warning.position = given.document.locate(warning.where);
    auto& hooks = given.spec.hooks;
    if (!hooks || one.index >= hooks->at(one.point).size()) {
      if (!search) search.emplace(hooks_of(devices));
      if (const auto* found = search->find(one.point, one.hook)) {
        warning.where = found->where;
        warning.position = found->spec->locate(found->where);
      }
    }
    output.warning(warning);
  }
  if (reported < kept.size()) {
    output.warning({.message = fmt::format("{} more hooks stay", kept.size() - reported)});
  }
}

}  // namespace detail

/// Lowers the hooks of an edited config; `file` is the path that the user passed, or `-`. Warns
/// about the hooks that stay, unless `files` is quiet.
inline cdi::Result<void> lower_hooks(cdi::ConfigJson& config, const FileInPlace& file,
                                     const std::string& path, const DeviceFiles& files,
                                     std::span<const cdi::ResolvedDevice> devices,
                                     const Output& output) {
  auto given = detail::read_given(file);
  if (!given) return given.error();
  auto lowered = lower_hooks(config.text, path);
  if (!lowered) {
    lowered.error().position = given->document.locate(lowered.error().where);
    return lowered.error();
  }
  if (!files.quiet) detail::warn_of_kept(lowered->kept, *given, devices, output);
  config.text = std::move(lowered->text);
  return {};
}

#endif  // CDI_TOOLS_CDI_INJECT_HOOKS_OPTION_HPP
