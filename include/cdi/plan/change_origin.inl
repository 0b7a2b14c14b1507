// The bodies of <cdi/plan/change_origin.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_CHANGE_ORIGIN_INL
#define CDI_PLAN_CHANGE_ORIGIN_INL

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/spec.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/plan/change.hpp>
#include <cdi/plan/change_origin.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/text/json.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

// Whether an edit is about the changed entry. The keys are those of `describe`.
inline bool makes(const std::string& variable, const Change& change) {
  return env_name(variable) == change.key;
}
inline bool makes(const DeviceNode& node, const Change& change) {
  if (change.part == "linux.devices") return node.path == change.key;
  return node.type + " " + std::to_string(node.major) + ":" + std::to_string(node.minor) ==
         change.key;
}
inline bool makes(const NetDevice& device, const Change& change) {
  return device.host_interface_name == change.key;
}
inline bool makes(const Mount& mount, const Change& change) {
  return mount.container_path == change.key;
}
inline bool makes(const IntelRdt&, const Change&) {
  return true;
}
inline bool makes(std::uint32_t gid, const Change& change) {
  return std::to_string(gid) == change.key;
}
/// Hooks of one path differ in their arguments.
inline bool makes(const Hook& hook, const Change& change) {
  if (hook.path != change.key || change.part != "hooks." + hook.hook_name) return false;
  const auto added = cdi::read_json<oci::Hook>(change.after);
  return !added ||
         (added->args == hook.args && added->env == hook.env && added->timeout == hook.timeout);
}

template <class Edit>
const Origin* last_that_makes(const std::vector<Planned<Edit>>& edits, const Change& change) {
  for (std::size_t i = edits.size(); i-- > 0;) {
    if (detail::makes(edits[i].edit, change)) return &edits[i].origin;
  }
  return nullptr;
}

}  // namespace detail

CDI_INLINE const Origin* find_origin(const Plan& plan, const Change& change) {
  const std::string_view part = change.part;
  const bool is_rule = part == "linux.resources.devices";
  if (part == "process.env") return detail::last_that_makes(plan.env, change);
  if (is_rule || part == "linux.devices") return detail::last_that_makes(plan.device_nodes, change);
  if (part == "linux.netDevices") return detail::last_that_makes(plan.net_devices, change);
  if (part == "mounts") return detail::last_that_makes(plan.mounts, change);
  if (part == "linux.intelRdt") return detail::last_that_makes(plan.intel_rdt, change);
  if (part == "process.user.additionalGids") {
    return detail::last_that_makes(plan.additional_gids, change);
  }
  return detail::last_that_makes(plan.hooks, change);
}

}  // namespace cdi

#endif  // CDI_PLAN_CHANGE_ORIGIN_INL
