// An NRI container that edits are applied to, and what they change as an adjustment.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nri.pb.h>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/apply.hpp>

#include "device_rules.hpp"
#include "runtime_facts.hpp"

namespace nri {

/// A container, and what edits change of it.
struct AdjustedContainer {
  const Container& container;
  RuntimeFacts runtime{};
  ContainerAdjustment adjustment{};
  Repeated<LinuxDeviceCgroup> rules{};  ///< of the edits; the adjustment has what they change
  bool has_some = false;                ///< whether the container had some of the edits before
  /// Why NRI, or this runtime's NRI, cannot express an edit; the member is in `where`.
  std::optional<cdi::Error> refusal{};

  void refuse(std::string_view member, std::string message, std::string advice);

  /// Refuses a name that begins with `-`: it would remove what has the rest as its name.
  void check_name(std::string_view member, std::string_view name);

  /// Refuses what NRI has since 0.11, if this runtime's NRI is older.
  void check_nri(std::string_view member, std::string_view what);

  /// How a container gets a device without edits in an adjustment.
  std::string other_way() const;
};

/// What the engine finds an item by; a rule has nothing.
template <class Item>
inline std::string_view key_of(const Item& item) {
  if constexpr (requires { item.destination(); }) {
    return item.destination();
  } else if constexpr (requires { item.path(); }) {
    return item.path();
  } else if constexpr (requires { item.key(); }) {
    return item.key();
  } else if constexpr (std::is_same_v<Item, std::string>) {
    return std::string_view{item}.substr(0, item.find('='));
  } else {
    return {};
  }
}

inline void set(const std::vector<std::string_view>& from, Repeated<std::string>& to) {
  to.Assign(from.begin(), from.end());
}

inline void set(std::string_view entry, KeyValue& to) {
  const auto equals = entry.find('=');
  to.set_key(std::string{entry.substr(0, equals)});
  to.set_value(std::string{entry.substr(equals + 1)});
}

inline void set(const cdi::oci::MountView& from, Mount& to) {
  to.set_destination(std::string{from.destination});
  to.set_type(std::string{from.type});
  to.set_source(std::string{from.source});
  set(from.options, *to.mutable_options());
}

inline void set(const cdi::oci::HookView& from, Hook& to) {
  to.set_path(std::string{from.path});
  set(from.args, *to.mutable_args());
  set(from.env, *to.mutable_env());
  from.timeout ? to.mutable_timeout()->set_value(*from.timeout) : to.clear_timeout();
}

inline void set(const cdi::oci::LinuxDeviceView& from, LinuxDevice& to) {
  to.set_path(std::string{from.path});
  to.set_type(std::string{from.type});
  to.set_major(from.major);
  to.set_minor(from.minor);
  from.file_mode ? to.mutable_file_mode()->set_value(*from.file_mode) : to.clear_file_mode();
  from.uid ? to.mutable_uid()->set_value(*from.uid) : to.clear_uid();
  from.gid ? to.mutable_gid()->set_value(*from.gid) : to.clear_gid();
}

inline void set(const cdi::oci::LinuxDeviceCgroupView& from, LinuxDeviceCgroup& to) {
  to.set_allow(from.allow);
  to.set_type(std::string{from.type});
  from.major ? to.mutable_major()->set_value(*from.major) : to.clear_major();
  from.minor ? to.mutable_minor()->set_value(*from.minor) : to.clear_minor();
  to.set_access(std::string{from.access});
}

inline void set(const cdi::oci::LinuxIntelRdtView& from, LinuxRdt& to) {
  if (!from.clos_id.empty()) to.mutable_clos_id()->set_value(std::string{from.clos_id});
  // A runtime writes all three to one file, in this order.
  for (const auto line : {from.l3_cache_schema, from.mem_bw_schema}) {
    if (!line.empty()) to.mutable_schemata()->add_value(std::string{line});
  }
  for (const auto line : from.schemata) to.mutable_schemata()->add_value(std::string{line});
  if (from.enable_monitoring) to.mutable_enable_monitoring()->set_value(true);
}

/// A list of the container. What edits add to it or replace in it goes to the adjustment.
template <class Item, class Added = Item>
struct AdjustedList {
  AdjustedContainer& target;
  const Repeated<Item>& items;
  Repeated<Added>& added;
  std::string_view member{};  // of edits, if its names may not begin with `-`

  const Item& at(std::size_t i) const { return items[static_cast<int>(i)]; }
  std::size_t size() const { return static_cast<std::size_t>(items.size()); }
  std::string_view key(std::size_t i) const { return key_of(at(i)); }
  bool equals(std::size_t i, const auto& record) const {
    Item made = at(i);  // with what later versions of NRI add to it
    set(record, made);
    const bool same = made.SerializeAsString() == at(i).SerializeAsString();
    if (!std::is_same_v<Item, LinuxDeviceCgroup>) target.has_some = target.has_some || same;
    return same;
  }
  void append(const auto& record) {
    set(record, *added.Add());
    if (member.empty()) return;
    const int last = added.size() - 1;
    target.check_name(member, key_of(added[last]));
    if constexpr (std::is_same_v<Item, Added>) {  // variables come once
      for (int i = 0; i < last; ++i) {            // NRI refuses two items with one key
        if (key_of(added[i]) == key_of(added[last])) return added.DeleteSubrange(i, 1);
      }
    }
  }
  void assign(std::size_t i, const auto& record) {
    if constexpr (std::is_same_v<Item, std::string>) {
      if (at(i) == record) {
        target.has_some = true;
        return;
      }
    }
    append(record);
  }
  void rearrange(std::span<const std::size_t>) {}  // a runtime replaces and sorts by itself
};

/// The network devices of the container.
struct AdjustedInterfaces {
  AdjustedContainer& target;

  void set(std::string_view host_name, const cdi::oci::LinuxNetDeviceView& device) {
    const auto& known = target.container.linux().net_devices();
    const auto found = known.find(std::string{host_name});
    if (found != known.end() && found->second.name() == device.name) {
      target.has_some = true;
      return;
    }
    target.check_nri("netDevices", "a network device");
    target.check_name("netDevices", host_name);
    auto& added = *target.adjustment.mutable_linux()->mutable_net_devices();
    added[std::string{host_name}].set_name(std::string{device.name});
  }
};

/// The groups of the container's process. NRI has no member for them.
struct AdjustedGroups {
  AdjustedContainer& target;

  const auto& ids() const { return target.container.user().additional_gids(); }
  std::size_t size() const { return static_cast<std::size_t>(ids().size()); }
  std::uint32_t id(std::size_t i) const { return ids()[static_cast<int>(i)]; }
  void append(std::uint32_t) {
    target.refuse("additionalGids", "NRI cannot add a group to a container", target.other_way());
  }
};

/// Adds the rules by which each device number gets the access that all rules together give, beyond
/// the rules that a runtime makes for new nodes.
class RuleWriter {
 public:
  explicit RuleWriter(AdjustedContainer& target) : target_{target} {}

  void write() {
    for (const auto& node : target_.adjustment.linux().devices()) add_made(node);
    auto numbers = made_;
    numbers.MergeFrom(target_.rules);
    for (auto number = numbers.begin(); number != numbers.end(); ++number) {
      const auto is_same = [&number](const auto& other) {
        return detail::covers(other, *number);
      };
      if (std::none_of(numbers.begin(), number, is_same)) add_rules(*number);
    }
  }

 private:
  /// A runtime makes a rule for a new node: all but mknod, and for a block device all. There are
  /// rules for two types only.
  void add_made(const LinuxDevice& node) {
    if (node.type() != "b" && node.type() != "c") {
      target_.refuse("deviceNodes",
                     "NRI cannot add a device node of type " + cdi::quoted(node.type()),
                     target_.other_way());
    }
    auto& rule = *made_.Add();
    rule.set_allow(true);
    rule.set_type(node.type());
    rule.mutable_major()->set_value(node.major());
    rule.mutable_minor()->set_value(node.minor());
    rule.set_access(node.type() == "b" ? "rwm" : "rw");
  }

  void add_rules(const LinuxDeviceCgroup& number) {
    const auto& before = target_.container.linux().resources().devices();
    const auto wanted = detail::access_to(number, {&before, &target_.rules});
    const auto given = detail::access_to(number, {&before, &made_});
    const auto denied = detail::letters_beyond(given, wanted);
    if (target_.runtime.has_device_rules) {
      add_rule(number, false, denied);
      add_rule(number, true, detail::letters_beyond(wanted, given));
    } else if (!detail::letters_beyond(denied, "m").empty()) {
      target_.refuse("deviceNodes",
                     "the NRI of this runtime would allow more than " + cdi::quoted(wanted) +
                         " for the device node",
                     "use containerd 2.2 or CRI-O 1.34, or leave out permissions");
    }
  }

  void add_rule(const LinuxDeviceCgroup& number, bool allow, std::string access) {
    if (access.empty()) return;
    auto& rule = *target_.adjustment.mutable_linux()->mutable_resources()->add_devices();
    rule = number;
    rule.set_allow(allow);
    rule.set_access(std::move(access));
  }

  AdjustedContainer& target_;
  Repeated<LinuxDeviceCgroup> made_{};
};

inline void AdjustedContainer::refuse(std::string_view member, std::string message,
                                      std::string advice) {
  if (refusal) return;
  refusal = {.code = cdi::Errc::unsupported,
             .message = std::move(message),
             .advice = std::move(advice),
             .where = std::string{member}};
}

inline void AdjustedContainer::check_name(std::string_view member, std::string_view name) {
  if (!name.starts_with('-')) return;
  refuse(member,
         "NRI would take " + cdi::quoted(name) + " for an order to remove " +
             cdi::quoted(name.substr(1)),
         "use a name without the hyphen at the front");
}

inline void AdjustedContainer::check_nri(std::string_view member, std::string_view what) {
  if (runtime.has_net_devices) return;
  refuse(member, "the NRI of this runtime does not know " + std::string{what},
         "use containerd 2.2.1 or CRI-O 1.35, or " + other_way());
}

inline std::string AdjustedContainer::other_way() const {
  std::string advice =
      "request the device in the CRI field, as a DRA driver or a device plugin does";
  if (runtime.injects_names) advice += "; without a policy, --resolve never also helps";
  return advice;
}

}  // namespace nri

template <>
struct cdi::SpecEditor<::nri::AdjustedContainer> {
  ::nri::AdjustedContainer& target;

  template <class Item, class Added = Item>
  using List = ::nri::AdjustedList<Item, Added>;

  auto env() {
    return List<std::string, ::nri::KeyValue>{target, target.container.env(),
                                              *target.adjustment.mutable_env(), "env"};
  }
  auto devices() {
    return List<::nri::LinuxDevice>{target, target.container.linux().devices(),
                                    *target.adjustment.mutable_linux()->mutable_devices(),
                                    "deviceNodes"};
  }
  auto device_rules() {
    return List<::nri::LinuxDeviceCgroup>{target, target.container.linux().resources().devices(),
                                          target.rules};
  }
  auto net_devices() { return ::nri::AdjustedInterfaces{target}; }
  auto mounts() {
    return List<::nri::Mount>{target, target.container.mounts(),
                              *target.adjustment.mutable_mounts(), "mounts"};
  }
  auto hooks(oci::HookPoint point) {
    const auto& old = target.container.hooks();
    auto& all = *target.adjustment.mutable_hooks();
    using Hooks = List<::nri::Hook>;
    switch (point) {
      case oci::HookPoint::prestart: return Hooks{target, old.prestart(), *all.mutable_prestart()};
      case oci::HookPoint::create_runtime:
        return Hooks{target, old.create_runtime(), *all.mutable_create_runtime()};
      case oci::HookPoint::create_container:
        return Hooks{target, old.create_container(), *all.mutable_create_container()};
      case oci::HookPoint::start_container:
        return Hooks{target, old.start_container(), *all.mutable_start_container()};
      case oci::HookPoint::poststart:
        return Hooks{target, old.poststart(), *all.mutable_poststart()};
      case oci::HookPoint::poststop: break;
    }
    return Hooks{target, old.poststop(), *all.mutable_poststop()};
  }
  auto additional_gids() { return ::nri::AdjustedGroups{target}; }
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) {
    const auto& part = target.container.linux();
    ::nri::LinuxRdt made;
    ::nri::set(settings, made);
    if (part.has_rdt() && made.SerializeAsString() == part.rdt().SerializeAsString()) {
      target.has_some = true;
      return;
    }
    target.check_nri("intelRdt", "Intel RDT settings");
    *target.adjustment.mutable_linux()->mutable_rdt() = std::move(made);
  }
  ProcessUser process_user() const {
    return {target.container.user().uid(), target.container.user().gid()};
  }
  bool has_id_mappings() const { return false; }  // NRI does not tell

  void finish() {
    ::nri::RuleWriter{target}.write();
    auto& out = target.adjustment;
    if (out.linux().ByteSizeLong() == 0) out.clear_linux();
    if (out.hooks().ByteSizeLong() == 0) out.clear_hooks();
  }
};

static_assert(cdi::FullyEditable<nri::AdjustedContainer>);
