// Turns the difference between two OCI runtime specs into an NRI adjustment.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_ADJUSTMENT_HPP
#define CDI_TOOLS_NRI_ADJUSTMENT_HPP

#include <algorithm>
#include <cstddef>
#include <nri.pb.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/oci.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>

#include "list_changes.hpp"
#include "runtime_facts.hpp"

namespace nri {

namespace detail {

inline void add_hooks(const std::vector<cdi::oci::Hook>& before,
                      const std::vector<cdi::oci::Hook>& after,
                      google::protobuf::RepeatedPtrField<Hook>& out) {
  for (const auto* hook : added(before, after)) {
    auto& message = *out.Add();
    message.set_path(hook->path);
    message.mutable_args()->Assign(hook->args.begin(), hook->args.end());
    message.mutable_env()->Assign(hook->env.begin(), hook->env.end());
    if (hook->timeout) message.mutable_timeout()->set_value(*hook->timeout);
  }
}

inline void add_hooks(const cdi::oci::Hooks& before, const cdi::oci::Hooks& after, Hooks& out) {
  add_hooks(before.prestart, after.prestart, *out.mutable_prestart());
  add_hooks(before.create_runtime, after.create_runtime, *out.mutable_create_runtime());
  add_hooks(before.create_container, after.create_container, *out.mutable_create_container());
  add_hooks(before.start_container, after.start_container, *out.mutable_start_container());
  add_hooks(before.poststart, after.poststart, *out.mutable_poststart());
  add_hooks(before.poststop, after.poststop, *out.mutable_poststop());
}

inline void add_environment(const cdi::oci::Spec& before, const cdi::oci::Spec& after,
                            ContainerAdjustment& out) {
  for (const auto* entry : replaced(before.process->env, after.process->env)) {
    auto& variable = *out.add_env();
    const auto equals = entry->find('=');
    variable.set_key(entry->substr(0, equals));
    variable.set_value(entry->substr(equals + 1));
  }
}

inline void add_mounts(const cdi::oci::Spec& before, const cdi::oci::Spec& after,
                       ContainerAdjustment& out) {
  for (const auto* mount : replaced(before.mounts, after.mounts)) {
    auto& message = *out.add_mounts();
    message.set_destination(mount->destination);
    message.set_type(mount->type);
    message.set_source(mount->source);
    message.mutable_options()->Assign(mount->options.begin(), mount->options.end());
  }
}

inline void add_device(const cdi::oci::LinuxDevice& device, LinuxContainerAdjustment& out) {
  auto& message = *out.add_devices();
  message.set_path(device.path);
  message.set_type(device.type);
  message.set_major(device.major);
  message.set_minor(device.minor);
  if (device.file_mode) message.mutable_file_mode()->set_value(*device.file_mode);
  if (device.uid) message.mutable_uid()->set_value(*device.uid);
  if (device.gid) message.mutable_gid()->set_value(*device.gid);
}

/// The letters of `access` that are not in `other`.
inline std::string letters_beyond(std::string_view access, std::string_view other) {
  std::string out;
  for (const char c : access) {
    if (other.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

/// The rule that a runtime makes for a new node: everything but mknod, and for a block device
/// everything.
inline cdi::oci::LinuxDeviceCgroup rule_of_runtime(const cdi::oci::LinuxDevice& device) {
  cdi::oci::LinuxDeviceCgroup rule;
  rule.allow = true;
  rule.type = device.type;
  rule.major = device.major;
  rule.minor = device.minor;
  rule.access = device.type == "b" ? "rwm" : "rw";
  return rule;
}

/// Whether a rule covers the device number of another rule, perhaps among others.
inline bool covers(const cdi::oci::LinuxDeviceCgroup& rule,
                   const cdi::oci::LinuxDeviceCgroup& number) {
  const bool all_types = rule.type.empty() || rule.type == "a";
  return (all_types || rule.type == number.type) && (!rule.major || rule.major == number.major) &&
         (!rule.minor || rule.minor == number.minor);
}

/// What the rules together allow for a device number. CDI's rules add up.
inline std::string access_to(const cdi::oci::LinuxDeviceCgroup& number,
                             const std::vector<cdi::oci::LinuxDeviceCgroup>& rules) {
  std::string access;
  for (const auto& rule : rules) {
    if (rule.allow && covers(rule, number)) access += letters_beyond(rule.access, access);
  }
  return access;
}

inline void add_rule(const cdi::oci::LinuxDeviceCgroup& rule, bool allow, std::string access,
                     LinuxContainerAdjustment& out) {
  if (access.empty()) return;
  auto& message = *out.mutable_resources()->add_devices();
  message.set_allow(allow);
  message.set_type(rule.type);
  if (rule.major) message.mutable_major()->set_value(*rule.major);
  if (rule.minor) message.mutable_minor()->set_value(*rule.minor);
  message.set_access(std::move(access));
}

/// The place of the edits that cause something; if several devices cause it together, the place of
/// the first.
template <class Causes>
cdi::Error located(cdi::Error error, std::span<const cdi::ResolvedDevice> devices,
                   std::string_view member, Causes&& causes) {
  for (const auto& one : devices) {
    std::string where;
    if (causes(one.spec->spec.container_edits)) {
      where = "containerEdits";
    } else if (causes(one.device->container_edits)) {
      where = "devices[" + std::to_string(one.index()) + "].containerEdits";
    } else {
      continue;
    }
    error.where = where.append(".").append(member);
    error.position = one.spec->locate(error.where);
    return error;
  }
  return error;
}

/// Whether edits have a variable, mount, device node or network device of this name.
inline bool has_name(const cdi::ContainerEdits& edits, const std::string& name) {
  const auto any = [](const auto& list, auto&& is_it) {
    return std::any_of(list.begin(), list.end(), is_it);
  };
  return any(edits.env, [&](const auto& entry) { return entry.starts_with(name + "="); }) ||
         any(edits.mounts, [&](const auto& mount) { return mount.container_path == name; }) ||
         any(edits.device_nodes, [&](const auto& node) { return node.path == name; }) ||
         any(edits.net_devices, [&](const auto& net) { return net.host_interface_name == name; });
}

inline cdi::Error cannot_say(std::string message, std::string advice) {
  return {
      .code = cdi::Errc::unsupported, .message = std::move(message), .advice = std::move(advice)};
}

}  // namespace detail

/// Writes an adjustment: everything that `after` has and `before` lacks.
class AdjustmentWriter {
 public:
  AdjustmentWriter(const cdi::oci::Spec& before, const cdi::oci::Spec& after,
                   std::span<const cdi::ResolvedDevice> devices, const RuntimeFacts& runtime)
      : before_{before}, after_{after}, devices_{devices}, runtime_{runtime} {}

  /// Fails with `Errc::unsupported` for edits that NRI, or this runtime's NRI, cannot express.
  cdi::Result<void> write(ContainerAdjustment& out) const {
    detail::add_environment(before_, after_, out);
    detail::add_mounts(before_, after_, out);
    if (*before_.hooks != *after_.hooks) {
      detail::add_hooks(*before_.hooks, *after_.hooks, *out.mutable_hooks());
    }
    if (auto done = check_groups(); !done) return done;
    if (*before_.linux_ != *after_.linux_) {
      auto& linux_part = *out.mutable_linux();
      if (auto done = add_devices(linux_part); !done) return done;
      if (auto done = add_net_devices(linux_part); !done) return done;
      if (auto done = add_rdt(linux_part); !done) return done;
    }
    return check_names(out);
  }

 private:
  using Edits = cdi::ContainerEdits;

  /// NRI has no member for the groups of a process.
  cdi::Result<void> check_groups() const {
    if (before_.process->user == after_.process->user) return {};
    return detail::located(detail::cannot_say("NRI cannot add a group to a container", other_way()),
                           devices_, "additionalGids",
                           [](const Edits& edits) { return !edits.additional_gids.empty(); });
  }

  /// A name that begins with `-` would remove the item with the rest of the name.
  cdi::Result<void> check_names(const ContainerAdjustment& out) const {
    for (const auto& variable : out.env()) {
      if (variable.key().starts_with('-')) return would_remove(variable.key(), "env");
    }
    for (const auto& mount : out.mounts()) {
      if (mount.destination().starts_with('-')) return would_remove(mount.destination(), "mounts");
    }
    for (const auto& device : out.linux().devices()) {
      if (device.path().starts_with('-')) return would_remove(device.path(), "deviceNodes");
    }
    for (const auto& [host_name, device] : out.linux().net_devices()) {
      if (host_name.starts_with('-')) return would_remove(host_name, "netDevices");
    }
    return {};
  }

  cdi::Result<void> would_remove(const std::string& name, std::string_view member) const {
    return detail::located(
        detail::cannot_say("NRI would take " + cdi::quoted(name) + " for an order to remove " +
                               cdi::quoted(name.substr(1)),
                           "use a name without the hyphen at the front"),
        devices_, member, [&name](const Edits& edits) { return detail::has_name(edits, name); });
  }

  /// Adds the nodes, and the rules that a runtime does not make for them.
  cdi::Result<void> add_devices(LinuxContainerAdjustment& out) const {
    std::vector<cdi::oci::LinuxDeviceCgroup> made;  // by the runtime
    for (const auto* device : detail::replaced(before_.linux_->devices, after_.linux_->devices)) {
      if (device->type != "b" && device->type != "c") return no_rule_for(*device);
      detail::add_device(*device, out);
      made.push_back(detail::rule_of_runtime(*device));
    }
    auto changed = made;
    const auto& rules = before_.linux_->resources->devices;
    for (const auto* rule : detail::added(rules, after_.linux_->resources->devices)) {
      changed.push_back(*rule);
    }
    for (auto number = changed.begin(); number != changed.end(); ++number) {
      const auto is_same = [&number](const auto& other) {
        return detail::covers(other, *number);
      };
      if (std::any_of(changed.begin(), number, is_same)) continue;
      if (auto done = add_rules(*number, made, out); !done) return done;
    }
    return {};
  }

  /// Adds rules that give a device number the access that all rules together allow.
  cdi::Result<void> add_rules(const cdi::oci::LinuxDeviceCgroup& number,
                              const std::vector<cdi::oci::LinuxDeviceCgroup>& made,
                              LinuxContainerAdjustment& out) const {
    const auto wanted = detail::access_to(number, after_.linux_->resources->devices);
    const auto given = detail::access_to(number, before_.linux_->resources->devices) +
                       detail::access_to(number, made);
    const auto denied = detail::letters_beyond(given, wanted);
    if (runtime_.has_device_rules) {
      detail::add_rule(number, false, denied, out);
      detail::add_rule(number, true, detail::letters_beyond(wanted, given), out);
    } else if (!detail::letters_beyond(denied, "m").empty()) {
      return too_much_access(wanted);
    }
    return {};
  }

  /// A runtime makes a rule for each node, but rules exist for two types only.
  cdi::Result<void> no_rule_for(const cdi::oci::LinuxDevice& device) const {
    return detail::located(
        detail::cannot_say("NRI cannot add a device node of type " + cdi::quoted(device.type),
                           other_way()),
        devices_, "deviceNodes",
        [&device](const Edits& edits) { return detail::has_name(edits, device.path); });
  }

  cdi::Result<void> too_much_access(const std::string& wanted) const {
    return detail::located(
        detail::cannot_say("the NRI of this runtime would allow more than " + cdi::quoted(wanted) +
                               " for the device node",
                           "use containerd 2.2 or CRI-O 1.34, or leave out permissions"),
        devices_, "deviceNodes", [&wanted](const Edits& edits) {
          return std::any_of(edits.device_nodes.begin(), edits.device_nodes.end(),
                             [&wanted](const auto& node) { return node.permissions == wanted; });
        });
  }

  cdi::Result<void> add_net_devices(LinuxContainerAdjustment& out) const {
    const auto& before = before_.linux_->net_devices;
    const auto& after = after_.linux_->net_devices;
    if (before == after) return {};
    if (!runtime_.has_net_devices) {
      return detail::located(needs_nri("a network device"), devices_, "netDevices",
                             [](const Edits& edits) { return !edits.net_devices.empty(); });
    }
    for (const auto& [host_name, device] : after) {
      (*out.mutable_net_devices())[host_name].set_name(device.name);
    }
    for (const auto& [host_name, device] : before) out.mutable_net_devices()->erase(host_name);
    return {};
  }

  cdi::Result<void> add_rdt(LinuxContainerAdjustment& out) const {
    const auto& rdt = after_.linux_->intel_rdt;
    if (before_.linux_->intel_rdt == rdt) return {};
    if (!runtime_.has_net_devices) {
      return detail::located(needs_nri("Intel RDT settings"), devices_, "intelRdt",
                             [](const Edits& edits) { return edits.intel_rdt.has_value(); });
    }
    auto& message = *out.mutable_rdt();
    if (!rdt->clos_id.empty()) message.mutable_clos_id()->set_value(rdt->clos_id);
    // A runtime writes all three to one file, in this order.
    auto& schemata = *message.mutable_schemata();
    if (!rdt->l3_cache_schema.empty()) schemata.add_value(rdt->l3_cache_schema);
    if (!rdt->mem_bw_schema.empty()) schemata.add_value(rdt->mem_bw_schema);
    for (const auto& line : rdt->schemata) schemata.add_value(line);
    if (schemata.value().empty()) message.clear_schemata();
    if (rdt->enable_monitoring) message.mutable_enable_monitoring()->set_value(true);
    return {};
  }

  cdi::Error needs_nri(std::string_view what) const {
    return detail::cannot_say("the NRI of this runtime does not know " + std::string{what},
                              "use containerd 2.2.1 or CRI-O 1.35, or " + other_way());
  }

  /// How a container gets a device without edits in an adjustment.
  std::string other_way() const {
    std::string advice =
        "request the device in the CRI field, as a DRA driver or a device plugin does";
    if (runtime_.injects_names) advice += "; without a policy, --resolve never also helps";
    return advice;
  }

  const cdi::oci::Spec& before_;
  const cdi::oci::Spec& after_;
  std::span<const cdi::ResolvedDevice> devices_;
  RuntimeFacts runtime_;
};

/// The number of items that an adjustment adds.
inline int size_of(const ContainerAdjustment& adjustment) {
  const auto& hooks = adjustment.hooks();
  const auto& linux_part = adjustment.linux();
  return adjustment.env_size() + adjustment.mounts_size() + hooks.prestart_size() +
         hooks.create_runtime_size() + hooks.create_container_size() +
         hooks.start_container_size() + hooks.poststart_size() + hooks.poststop_size() +
         linux_part.devices_size() + linux_part.net_devices_size() + (linux_part.has_rdt() ? 1 : 0);
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_ADJUSTMENT_HPP
