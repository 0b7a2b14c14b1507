// The last check before a spec is published: every host path in the spec exists.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../../kit/cdi_specs/host_faults.hpp"
#include "../../kit/host/host_tree.hpp"

// The check does not depend on how the spec was made.

namespace prepare {

/// The first reason why edits cannot be applied on this host. A node with all numbers may be
/// missing on the host; a path that cannot be checked is a reason.
inline std::optional<tools::HostFault> fault_of(const tools::HostTree& tree,
                                                const cdi::ContainerEdits& edits) {
  for (auto& fault : host_faults(tree, edits)) {
    if (fault.effect != tools::HostFault::Effect::may_fail) return std::move(fault);
  }
  return std::nullopt;
}

/// A device that was left out, and the reason.
struct LeftOut {
  std::string kind{};
  std::string name{};
  std::string reason{};
  std::string node{};  // as in `Problem`

  /// The members in the result of `cdi-prepare write`.
  static constexpr void fields(auto& list) {
    list("kind", &LeftOut::kind, cdi::required);
    list("name", &LeftOut::name, cdi::required);
    list("reason", &LeftOut::reason, cdi::required);
  }
};

/// Removes devices that the host cannot provide from a spec, and returns them; an error if no
/// device is left.
inline cdi::Result<std::vector<LeftOut>> verify(const tools::HostTree& tree, cdi::Spec& spec) {
  const auto failure = [&](std::string_view reason) {
    return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("{}: {}", spec.kind, reason)};
  };
  if (const auto fault = fault_of(tree, spec.container_edits)) return failure(fault->error.message);
  std::vector<LeftOut> left_out;
  std::erase_if(spec.devices, [&](const cdi::Device& device) {
    auto fault = fault_of(tree, device.container_edits);
    if (!fault) return false;
    left_out.push_back(
        {spec.kind, device.name, std::move(fault->error.message), std::move(fault->missing)});
    return true;
  });
  if (spec.devices.empty()) {
    return failure(left_out.empty() ? "no device can be handed out" : left_out.front().reason);
  }
  return left_out;
}

}  // namespace prepare
