// The adjustment that gives an NRI container devices, and whether it has them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "adjustment.hpp"

#include <algorithm>
#include <utility>

#include "adjusted_container.hpp"

namespace nri {

namespace {

/// A container's parts that edits may change, but for its variables: a pod may have very many.
Container without_variables(const Container& container) {
  Container out;
  *out.mutable_user() = container.user();
  *out.mutable_mounts() = container.mounts();
  *out.mutable_hooks() = container.hooks();
  *out.mutable_linux() = container.linux();
  return out;
}

}  // namespace

cdi::Result<ContainerAdjustment> adjustment_for(const Container& container,
                                                std::span<const cdi::ResolvedDevice> devices,
                                                const RuntimeFacts& runtime,
                                                const cdi::HostWithOptions<>& host) {
  AdjustedContainer target{container, runtime};
  const auto done = cdi::Registry::inject_resolved(target, devices, host);
  if (!done) return done.error();
  if (!target.refusal) return std::move(target.adjustment);
  auto error = *std::move(target.refusal);
  const auto bare = without_variables(container);
  const cdi::detail::EditsOfDevices all{devices};
  for (const auto* edits : all.edits) {
    ++error.edits;
    AdjustedContainer alone{bare, runtime};
    const auto applied = cdi::apply(*edits, alone, host);
    if (applied && alone.refusal && alone.refusal->message == error.message) {
      return all.trace(std::move(error));
    }
  }
  error.where.clear();
  error.edits = 0;
  return error;
}

bool has_any(const Container& container, std::span<const cdi::ResolvedDevice> devices,
             const RuntimeFacts& runtime, const cdi::HostWithOptions<>& host) {
  AdjustedContainer target{container, runtime};
  return !cdi::Registry::inject_resolved(target, devices, host) || target.refusal ||
         target.has_some || target.adjustment.ByteSizeLong() == 0;
}

bool has_device(const Container& container, const cdi::ResolvedDevice& device,
                const cdi::HostWithOptions<>& host) {
  const auto& own = device.device->container_edits;
  const bool is_shown =
      !own.env.empty() || !own.device_nodes.empty() || !own.mounts.empty() || !own.hooks.empty();
  const auto bare = without_variables(container);
  AdjustedContainer target{bare};
  if (!is_shown || !cdi::Registry::inject_resolved(target, std::span{&device, 1}, host)) {
    return false;
  }
  const auto& lacks = target.adjustment;
  const auto has_node = [&container](const LinuxDevice& node) {
    const auto& nodes = container.linux().devices();
    return std::any_of(nodes.begin(), nodes.end(), [&node](const LinuxDevice& one) {
      return one.path() == node.path() && one.type() == node.type() &&
             one.major() == node.major() && one.minor() == node.minor();
    });
  };
  const auto has_variable = [&](const KeyValue& variable) {
    auto wanted = variable.key() + "=";
    if (own.device_nodes.empty()) wanted += variable.value();
    const auto& env = container.env();
    return std::any_of(env.begin(), env.end(), [&](const auto& entry) {
      return own.device_nodes.empty() ? entry == wanted : entry.starts_with(wanted);
    });
  };
  const auto& nodes = lacks.linux().devices();
  return lacks.mounts().empty() && !lacks.has_hooks() &&
         std::all_of(nodes.begin(), nodes.end(), has_node) &&
         std::all_of(lacks.env().begin(), lacks.env().end(), has_variable);
}

}  // namespace nri
