// The bodies of <cdi/registry/decision.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_IMPL_DECISION_HPP
#define CDI_REGISTRY_IMPL_DECISION_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/decision.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/file_mode.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/pattern.hpp>
#include <cdi/rules/policy.hpp>
#include <cdi/rules/requests.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/text/json_text.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

using Match = bool (*)(std::string_view pattern, std::string_view text);

/// Whether a list covers a text. An absent list covers all.
inline bool covers(const OptionalTexts& list, std::string_view text, Match match) {
  if (!list) return true;
  for (const auto& pattern : *list) {
    if (match(pattern, text)) return true;
  }
  return false;
}

inline bool covers(const OptionalIds& list, std::uint32_t id) {
  if (!list) return true;
  for (const auto one : *list) {
    if (one == id) return true;
  }
  return false;
}

/// Whether a path of an edit matches a pattern. Behind a link of the host, `..` leads elsewhere
/// than the text says: /usr/lib/ssl/certs/../.. is /etc on many hosts.
inline bool matches_edit_path(std::string_view pattern, std::string_view path) {
  return !has_parent_part(path) && matches_path(pattern, path);
}

/// Whether a mount with these options can be written to. The last option decides, but runtimes
/// carry out `rrw` after the mount, also if a later option is `ro`.
inline bool mount_is_writable(const std::vector<std::string>& options) {
  bool writable = true;
  for (const auto& option : options) {
    if (option == "rrw") return true;
    if (option == "ro" || option == "rro") writable = false;
    if (option == "rw") writable = true;
  }
  return writable;
}

/// Whether the spec file of a device meets the conditions of a rule. `unknown` is the answer when
/// its owner and mode are not known.
inline bool meets_access(const PolicyRule& rule, const std::optional<FileAccess>& access,
                         bool unknown) {
  if (!rule.file_owners && !rule.file_groups && rule.file_mode.empty()) return true;
  if (!access) return unknown;
  if (!covers(rule.file_owners, access->owner)) return false;
  if (!covers(rule.file_groups, access->group)) return false;
  if (rule.file_mode.empty()) return true;
  const auto most = parse_mode(rule.file_mode);
  return most ? (access->mode & ~*most) == 0 : unknown;
}

inline bool applies(const PolicyRule& rule, const Decision& device, const LoadedSpec& spec) {
  const bool unknown = !rule.allow;
  if (!covers(rule.devices, device.device, matches)) return false;
  const bool source = device.source.empty() && rule.sources
                          ? unknown
                          : covers(rule.sources, device.source, matches);
  const bool file = rule.files && !spec.path.starts_with('/')
                        ? unknown
                        : covers(rule.files, spec.path, matches_path);
  return source && file && meets_access(rule, spec.access, unknown);
}

/// Collects the edits that are outside of the limits of a rule.
class LimitCheck {
 public:
  LimitCheck(const EditLimits& limits, const LoadedSpec& spec, std::vector<DenyReason>& reasons)
      : limits_{limits}, spec_{spec}, reasons_{reasons} {}

  /// Checks edits; `outer` is their path in the spec.
  void check(const ContainerEdits& edits, const std::string& outer) {
    outer_ = outer;
    check_env(edits.env, limits_.env, "env", "sets the variable");
    for (std::size_t i = 0; i < edits.device_nodes.size(); ++i) check(edits.device_nodes[i], i);
    for (std::size_t i = 0; i < edits.net_devices.size(); ++i) {
      const auto& name = edits.net_devices[i].host_interface_name;
      if (!covers(limits_.net_devices, name, matches)) {
        deny(item_path("netDevices", i) + ".hostInterfaceName", "moves the interface", name);
      }
    }
    for (std::size_t i = 0; i < edits.hooks.size(); ++i) check(edits.hooks[i], i);
    for (std::size_t i = 0; i < edits.mounts.size(); ++i) check(edits.mounts[i], i);
    if (edits.intel_rdt && !limits_.intel_rdt.value_or(true)) {
      deny("intelRdt", "makes settings of Intel RDT", {});
    }
    for (std::size_t i = 0; i < edits.additional_gids.size(); ++i) {
      const auto gid = edits.additional_gids[i];
      if (gid != 0 && !covers(limits_.additional_gids, gid)) {
        deny(item_path("additionalGids", i), "adds the group", std::to_string(gid));
      }
    }
  }

 private:
  void check(const DeviceNode& node, std::size_t index) {
    const auto& path = node.host_path.empty() ? node.path : node.host_path;
    const auto where = item_path("deviceNodes", index);
    if (!covers(limits_.device_nodes, path, matches_edit_path)) {
      deny(where + (node.host_path.empty() ? ".path" : ".hostPath"), "adds the device node", path);
    }
    if (node.major != 0 && !limits_.node_numbers.value_or(true)) {
      deny(where + ".major", "sets the number of the device node", path);
    }
  }

  void check(const Hook& hook, std::size_t index) {
    const auto where = item_path("hooks", index);
    if (!covers(limits_.hooks, hook.path, matches_edit_path)) {
      deny(where + ".path", "runs the hook", hook.path);
    }
    check_env(hook.env, limits_.hook_env, where + ".env", "runs a hook with the variable");
  }

  /// Checks the names of variables; `where` is the path of their list.
  void check_env(const std::vector<std::string>& env, const OptionalTexts& limit,
                 std::string_view where, std::string_view what) {
    for (std::size_t i = 0; i < env.size(); ++i) {
      const std::string_view name = std::string_view{env[i]}.substr(0, env[i].find('='));
      if (!covers(limit, name, matches)) deny(item_path(where, i), what, name);
    }
  }

  /// Only a bind mount is known by its path on the host: the options of others may name more paths.
  void check(const Mount& mount, std::size_t index) {
    const auto where = item_path("mounts", index);
    const bool bind = mount.type.empty() || mount.type == "bind" || mount.type == "none";
    if (limits_.mounts && !bind) {
      deny(where + ".type", "mounts a file system of type", mount.type);
    } else if (!covers(limits_.mounts, mount.host_path, matches_edit_path)) {
      deny(where + ".hostPath", "mounts", mount.host_path);
    }
    if (limits_.writable_mounts.value_or(true) || !mount_is_writable(mount.options)) return;
    deny(where, "mounts without the option ro:", mount.host_path);
  }

  void deny(const std::string& where, std::string_view what, std::string_view name) {
    if (reasons_.size() >= most_warnings) return;
    auto& reason = reasons_.emplace_back();
    reason.message = what;
    if (!name.empty()) reason.message.append(" ").append(cdi::quoted(name));
    reason.message.append(", which the rule does not allow");
    reason.member = inner_path(outer_, where);
    const auto place = spec_.locate(reason.member);
    reason.line = place.line;
    reason.column = place.column;
  }

  const EditLimits& limits_;
  const LoadedSpec& spec_;
  std::vector<DenyReason>& reasons_;
  std::string outer_{};
};

/// Decides about a device whose `device`, `source` and `key` are set.
inline void decide_one(const Policy& policy, const ResolvedDevice& found, Decision& out) {
  out.file = found.spec->path;
  for (const auto& rule : policy.rules) {
    if (!applies(rule, out, *found.spec)) continue;
    out.rule = rule.name;
    if (!rule.allow) {
      out.reasons.push_back({.message = "the rule denies the device"});
    } else {
      LimitCheck check{rule.edits, *found.spec, out.reasons};
      check.check(found.spec->spec.container_edits, "containerEdits");
      check.check(found.device->container_edits,
                  item_path("devices", found.index()) + ".containerEdits");
    }
    out.allowed = out.reasons.empty();
    return;
  }
  out.reasons.push_back({.message = "no rule of the policy applies to the device"});
}

inline Decision about(const ResolvedDevice& found) {
  return {.device = qualified_name(found.spec->spec.kind, found.device->name)};
}

/// The log of decisions.
struct DecisionLog {
  bool allowed = true;
  std::vector<Decision> decisions{};

  static constexpr void fields(auto& list) {
    list("allowed", &DecisionLog::allowed, Presence::keep_empty);
    list("decisions", &DecisionLog::decisions, Presence::keep_empty);
  }
};

inline std::string utf8_or_escaped(const std::string& text) {
  return is_utf8(text) ? text : cdi::escaped(text, std::string::npos);
}

}  // namespace detail

CDI_INLINE std::vector<Decision> decide(const Policy& policy,
                                        std::span<const ResolvedDevice> devices,
                                        RequestOrigin origin) {
  std::vector<Decision> out;
  for (const auto& found : devices) {
    auto& decision = out.emplace_back(detail::about(found));
    decision.source = request_origin_name(origin);
    detail::decide_one(policy, found, decision);
  }
  return out;
}

CDI_INLINE std::vector<Decision> decide(const Policy& policy,
                                        std::span<const ResolvedDevice> devices,
                                        std::span<const RequestedDevice> requested) {
  std::vector<Decision> out;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto& decision = out.emplace_back(detail::about(devices[i]));
    if (i < requested.size()) {
      decision.source = request_origin_name(requested[i].origin);
      decision.key = requested[i].key;
    }
    detail::decide_one(policy, devices[i], decision);
  }
  return out;
}

CDI_INLINE Result<void> require_allowed(std::span<const Decision> decisions) {
  const Decision* first = nullptr;
  std::size_t denied = 0;
  for (const auto& one : decisions) {
    if (one.allowed) continue;
    if (denied++ == 0) first = &one;
  }
  if (first == nullptr) return {};
  Error error{.code = Errc::refused,
              .message = "the policy denies " + cdi::quoted(first->device),
              .position = {.file = first->file}};
  if (!first->rule.empty()) error.message.append(", by the rule ").append(cdi::quoted(first->rule));
  if (!first->reasons.empty()) {
    const auto& reason = first->reasons.front();
    error.message.append(": ").append(reason.message);
    error.where = reason.member;
    error.position.line = reason.line;
    error.position.column = reason.column;
  }
  if (denied > 1) {
    error.message.append("; it denies ").append(std::to_string(denied - 1)).append(" more");
  }
  return error;
}

CDI_INLINE std::string write_decisions(std::span<const Decision> decisions, int indent) {
  detail::DecisionLog log;
  for (const auto& one : decisions) {
    log.allowed = log.allowed && one.allowed;
    auto& copy = log.decisions.emplace_back(one);
    copy.file = detail::utf8_or_escaped(one.file);
    copy.rule = detail::utf8_or_escaped(one.rule);
    copy.key = detail::utf8_or_escaped(one.key);
  }
  auto text = write_json(log, indent);
  return text ? *std::move(text) : std::string{};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_IMPL_DECISION_HPP
