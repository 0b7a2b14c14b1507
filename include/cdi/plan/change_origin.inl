// The bodies of <cdi/plan/change_origin.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_CHANGE_ORIGIN_INL
#define CDI_PLAN_CHANGE_ORIGIN_INL

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/plan/change_origin.hpp>
#include <cdi/text/json.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

// Whether an edit is about the changed entry. The keys come from `describe`.
inline bool makes(const std::string& variable, const Change& change) {
  return env_name(variable) == change.key;
}
inline bool makes(const DeviceNode& node, const Change& change) {
  return node.path == change.key;
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
/// A changed cgroup rule, whose key, such as `c 1:3`, is read once for all nodes of a plan.
struct ChangedRule {
  std::string_view type;
  std::int64_t major = -1;  // -1 for a rule with `*`, which no edit makes
  std::int64_t minor = -1;
};

inline ChangedRule rule_of(std::string_view key) {
  const auto blank = key.find(' ');
  const auto colon = key.find(':');
  if (colon == key.npos || blank > colon) return {};
  ChangedRule rule{.type = key.substr(0, blank)};
  const auto* const text = key.data();
  std::from_chars(text + blank + 1, text + colon, rule.major);
  std::from_chars(text + colon + 1, text + key.size(), rule.minor);
  return rule;
}

inline bool makes(const DeviceNode& node, const ChangedRule& rule) {
  return node.major == rule.major && node.minor == rule.minor && node.type == rule.type;
}
/// A changed hook, whose text is read once for all hooks of a plan. Hooks of one path differ in
/// their arguments.
struct ChangedHook {
  std::string_view part;  // `hooks.` and the name of the hook
  std::string_view path;
  Result<oci::Hook> entry;  // fails if the text is not known
};

inline bool makes(const Hook& hook, const ChangedHook& changed) {
  constexpr std::string_view stem = "hooks.";
  if (hook.path != changed.path || !changed.part.starts_with(stem)) return false;
  if (changed.part.substr(stem.size()) != hook.hook_name) return false;
  const auto& added = changed.entry;
  return !added ||
         (added->args == hook.args && added->env == hook.env && added->timeout == hook.timeout);
}

template <class Edit, class Changed>
const Origin* last_that_makes(const std::vector<Planned<Edit>>& edits, const Changed& change) {
  for (std::size_t i = edits.size(); i-- > 0;) {
    if (detail::makes(edits[i].edit, change)) return &edits[i].origin;
  }
  return nullptr;
}

}  // namespace detail

CDI_INLINE const Origin* find_origin(const Plan& plan, const Change& change) {
  const std::string_view part = change.part;
  if (part == "process.env") return detail::last_that_makes(plan.env, change);
  if (part == "linux.devices") return detail::last_that_makes(plan.device_nodes, change);
  if (part == "linux.resources.devices") {
    return detail::last_that_makes(plan.device_nodes, detail::rule_of(change.key));
  }
  if (part == "linux.netDevices") return detail::last_that_makes(plan.net_devices, change);
  if (part == "mounts") return detail::last_that_makes(plan.mounts, change);
  if (part == "linux.intelRdt") return detail::last_that_makes(plan.intel_rdt, change);
  if (part == "process.user.additionalGids") {
    return detail::last_that_makes(plan.additional_gids, change);
  }
  const detail::ChangedHook hook{part, change.key, cdi::read_json<oci::Hook>(change.after)};
  return detail::last_that_makes(plan.hooks, hook);
}

}  // namespace cdi

#endif  // CDI_PLAN_CHANGE_ORIGIN_INL
