// The bodies of <cdi/policy/decision.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_DECISION_INL
#define CDI_POLICY_DECISION_INL

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/policy/decision.hpp>
#include <cdi/policy/pattern_set.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/unicode.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The ids of one list of a policy. An absent list covers all ids.
class IdSet {
 public:
  explicit IdSet(const OptionalIds& list) : covers_all_{!list} {
    if (list) ids_.insert(list->begin(), list->end());
  }
  bool covers(std::uint32_t id) const { return covers_all_ || ids_.contains(id); }

 private:
  bool covers_all_;
  std::set<std::uint32_t> ids_{};
};

/// A rule, prepared for many devices and edits.
struct PreparedRule {
  using Set = PatternSet;

  const PolicyRule& rule;
  Set devices{rule.devices, Set::Kind::names};
  Set sources{rule.sources, Set::Kind::names};
  Set files{rule.files, Set::Kind::paths};
  IdSet file_owners{rule.file_owners};
  IdSet file_groups{rule.file_groups};
  std::optional<std::uint32_t> file_mode = parse_mode(rule.file_mode);
  Set env{rule.edits.env, Set::Kind::names};
  Set device_nodes{rule.edits.device_nodes, Set::Kind::paths};
  Set net_devices{rule.edits.net_devices, Set::Kind::names};
  Set hooks{rule.edits.hooks, Set::Kind::paths};
  Set hook_env{rule.edits.hook_env, Set::Kind::names};
  Set mounts{rule.edits.mounts, Set::Kind::paths};
  Set mount_options{rule.edits.mount_options, Set::Kind::names};
  IdSet additional_gids{rule.edits.additional_gids};
};

/// Returns whether a list covers the path of an edit. If a part of the path is a symbolic link,
/// `..` leads elsewhere than the text suggests: /usr/lib/ssl/certs/../.. is /etc on many hosts.
inline bool covers_edit(const PatternSet& patterns, std::string_view path) {
  return patterns.covers_all() || (!has_parent_part(path) && patterns.covers(path));
}

/// Returns whether a text contains control characters, or others that may be read as newlines.
inline bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (ends_old_line(text.substr(i, 2)) || ends_old_line(text.substr(i, 3))) return true;
  }
  return false;
}

/// Returns whether a list covers the name of a variable. A program that reads variables line by
/// line reads a name with a newline as two, but a pattern such as `GPU*` covers only the first.
inline bool covers_variable(const PatternSet& patterns, std::string_view name) {
  return patterns.covers_all() || (!has_control(name) && patterns.covers(name));
}

/// Returns whether the spec file of a device meets the conditions of a rule, or `unknown` when the
/// file's owner and mode are not known.
inline bool meets_access(const PreparedRule& prepared, const std::optional<FileAccess>& access,
                         bool unknown) {
  const auto& rule = prepared.rule;
  if (!rule.file_owners && !rule.file_groups && rule.file_mode.empty()) return true;
  if (!access) return unknown;
  if (!prepared.file_owners.covers(access->owner)) return false;
  if (!prepared.file_groups.covers(access->group)) return false;
  if (rule.file_mode.empty()) return true;
  return prepared.file_mode ? (access->mode & ~*prepared.file_mode) == 0 : unknown;
}

inline bool applies(const PreparedRule& prepared, const Decision& device, const LoadedSpec& spec) {
  const auto& rule = prepared.rule;
  const bool unknown = !rule.allow;
  if (!prepared.devices.covers(device.device)) return false;
  const bool source =
      device.source.empty() && rule.sources ? unknown : prepared.sources.covers(device.source);
  const bool file =
      rule.files && !spec.path.starts_with('/') ? unknown : prepared.files.covers(spec.path);
  return source && file && meets_access(prepared, spec.access, unknown);
}

/// Collects the edits that exceed the limits of a rule.
class LimitCheck {
 public:
  LimitCheck(const PreparedRule& rule, const LoadedSpec& spec, std::vector<DenyReason>& reasons)
      : rule_{rule}, spec_{spec}, reasons_{reasons} {}

  /// Checks edits; `outer` is their path in the spec.
  void check(const ContainerEdits& edits, const std::string& outer) {
    static_assert(field_count<ContainerEdits>() == 7, "cdi: limit each kind of edit");
    outer_ = outer;
    check_env(edits.env, rule_.env, "env", "sets the variable");
    check_each(edits.device_nodes);
    check_each(edits.net_devices);
    check_each(edits.hooks);
    check_each(edits.mounts);
    if (edits.intel_rdt && !limits_.intel_rdt.value_or(true)) {
      deny("intelRdt", "changes Intel RDT settings", {});
    }
    for (std::size_t i = 0; i < edits.additional_gids.size() && !is_full(); ++i) {
      const auto gid = edits.additional_gids[i];
      if (gid != 0 && !rule_.additional_gids.covers(gid)) {
        deny(item_path("additionalGids", i), "adds the group", std::to_string(gid));
      }
    }
  }

 private:
  bool is_full() const { return reasons_.size() >= max_warnings; }

  template <class Edit>
  void check_each(const std::vector<Edit>& edits) {
    for (std::size_t i = 0; i < edits.size() && !is_full(); ++i) check(edits[i], i);
  }

  void check(const DeviceNode& node, std::size_t index) {
    const auto& path = node.host_path.empty() ? node.path : node.host_path;
    const auto where = item_path("deviceNodes", index);
    if (!covers_edit(rule_.device_nodes, path)) {
      deny(where + (node.host_path.empty() ? ".path" : ".hostPath"), "adds the device node", path);
    }
    if (node.major != 0 && !limits_.node_numbers.value_or(true)) {
      deny(where + ".major", "sets the number of the device node", path);
    }
  }

  void check(const NetDevice& device, std::size_t index) {
    const auto& name = device.host_interface_name;
    if (rule_.net_devices.covers(name)) return;
    deny(item_path("netDevices", index) + ".hostInterfaceName", "moves the interface", name);
  }

  void check(const Hook& hook, std::size_t index) {
    const auto where = item_path("hooks", index);
    if (!covers_edit(rule_.hooks, hook.path)) {
      deny(where + ".path", "runs the hook", hook.path);
    }
    check_env(hook.env, rule_.hook_env, where + ".env", "runs a hook with the variable");
  }

  /// Checks the names of variables; `where` is the path of their list.
  void check_env(const std::vector<std::string>& env, const PatternSet& limit,
                 std::string_view where, std::string_view what) {
    for (std::size_t i = 0; i < env.size() && !is_full(); ++i) {
      const std::string_view name = std::string_view{env[i]}.substr(0, env[i].find('='));
      if (!covers_variable(limit, name)) deny(item_path(where, i), what, name);
    }
  }

  void check(const Mount& mount, std::size_t index) {
    const auto where = item_path("mounts", index);
    if (limits_.mounts) check_source(mount, where);
    for (std::size_t i = 0; i < mount.options.size() && !is_full(); ++i) {
      const auto& option = mount.options[i];
      if (rule_.mount_options.covers(option)) continue;
      deny(item_path(where + ".options", i), "mounts with the option", option);
    }
    if (limits_.writable_mounts.value_or(true) || !may_be_writable(mount.options)) return;
    deny(where, "mounts without the option ro:", mount.host_path);
  }

  /// Only a new bind mount is identified by its host path: the options of other types may name more
  /// paths, and `remount` changes a mount that the container already has, whatever the path. The
  /// type counts even beside the option `bind`, with which runc ignores it: other runtimes may not.
  void check_source(const Mount& mount, const std::string& where) {
    const bool bind = !is_file_system(mount.type);
    if (!bind) deny(where + ".type", "mounts a file system of type", mount.type);
    if (bind && !covers_edit(rule_.mounts, mount.host_path)) {
      deny(where + ".hostPath", "mounts", mount.host_path);
    }
    for (std::size_t i = 0; i < mount.options.size() && !is_full(); ++i) {
      if (mount.options[i] != "remount") continue;
      deny(item_path(where + ".options", i), "changes the mount at", mount.container_path);
    }
  }

  void deny(const std::string& where, std::string_view what, std::string_view name) {
    if (is_full()) return;
    auto& reason = reasons_.emplace_back();
    reason.message = what;
    if (!name.empty()) reason.message.append(" ").append(cdi::quoted(name));
    reason.message.append(", which the rule does not allow");
    reason.member = inner_path(outer_, where);
    const auto place = spec_.locate(reason.member);
    reason.line = place.line;
    reason.column = place.column;
  }

  const PreparedRule& rule_;
  const EditLimits& limits_ = rule_.rule.edits;
  const LoadedSpec& spec_;
  std::vector<DenyReason>& reasons_;
  std::string outer_{};
};

/// Applies a policy, which is prepared only once, to devices.
class Decider {
 public:
  explicit Decider(const Policy& policy) {
    rules_.reserve(policy.rules.size());
    for (const auto& rule : policy.rules) rules_.push_back({rule});
  }

  /// Decides whether a device is allowed. The `device`, `source` and `key` of `out` must be set.
  void decide(const ResolvedDevice& found, Decision& out) {
    out.file = found.spec->path;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!applies(rules_[i], out, *found.spec)) continue;
      out.rule = rules_[i].rule.name;
      if (rules_[i].rule.allow) {
        check_edits(i, found, out.reasons);
      } else {
        out.reasons.push_back({.message = "the rule denies the device"});
      }
      out.allowed = out.reasons.empty();
      return;
    }
    out.reasons.push_back({.message = "no rule of the policy applies to the device"});
  }

 private:
  void check_edits(std::size_t rule, const ResolvedDevice& found,
                   std::vector<DenyReason>& reasons) {
    const auto& spec = *found.spec;
    // A spec's own edits apply to each of its devices, and are checked once.
    const auto [known, is_new] = of_specs_.try_emplace({rule, &spec});
    if (is_new) {
      LimitCheck{rules_[rule], spec, known->second}.check(spec.spec.container_edits,
                                                          "containerEdits");
    }
    reasons = known->second;
    LimitCheck{rules_[rule], spec, reasons}.check(
        found.device->container_edits, item_path("devices", found.index()) + ".containerEdits");
  }

  std::vector<PreparedRule> rules_{};
  std::map<std::pair<std::size_t, const LoadedSpec*>, std::vector<DenyReason>> of_specs_{};
};

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

CDI_INLINE std::vector<Decision> readable_decisions(std::span<const Decision> decisions) {
  std::vector<Decision> out{decisions.begin(), decisions.end()};
  for (auto& one : out) {
    one.file = detail::utf8_or_escaped(one.file);
    one.rule = detail::utf8_or_escaped(one.rule);
    one.key = detail::utf8_or_escaped(one.key);
  }
  return out;
}

}  // namespace detail

CDI_INLINE std::vector<Decision> decide(const Policy& policy,
                                        std::span<const ResolvedDevice> devices,
                                        RequestOrigin origin) {
  std::vector<Decision> out;
  detail::Decider decider{policy};
  for (const auto& found : devices) {
    auto& decision = out.emplace_back(detail::about(found));
    decision.source = request_origin_name(origin);
    decider.decide(found, decision);
  }
  return out;
}

CDI_INLINE std::vector<Decision> decide(const Policy& policy,
                                        std::span<const ResolvedDevice> devices,
                                        std::span<const RequestedDevice> requested) {
  std::map<std::string_view, std::vector<const RequestedDevice*>> by_name;  // in reverse order
  for (std::size_t i = requested.size(); i-- > 0;) {
    by_name[requested[i].name].push_back(&requested[i]);
  }
  std::vector<Decision> out;
  detail::Decider decider{policy};
  for (const auto& found : devices) {
    auto& decision = out.emplace_back(detail::about(found));
    const auto requests = by_name.find(decision.device);
    if (requests != by_name.end() && !requests->second.empty()) {
      decision.source = request_origin_name(requests->second.back()->origin);
      decision.key = requests->second.back()->key;
      requests->second.pop_back();
    }
    decider.decide(found, decision);
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
  Error error{.code = Errc::denied,
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
    error.message.append("; it also denies ").append(std::to_string(denied - 1)).append(" more");
  }
  return error;
}

CDI_INLINE std::string write_decisions(std::span<const Decision> decisions, int indent) {
  detail::DecisionLog log{.decisions = detail::readable_decisions(decisions)};
  for (const auto& one : decisions) log.allowed = log.allowed && one.allowed;
  auto text = write_json(log, indent);
  return text ? *std::move(text) : std::string{};
}

}  // namespace cdi

#endif  // CDI_POLICY_DECISION_INL
