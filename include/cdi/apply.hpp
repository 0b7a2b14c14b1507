// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_APPLY_HPP
#define CDI_APPLY_HPP

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <cdi/host.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/path.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

/// A list of an OCI spec that CDI adds `Record`s to. Records are views: the list copies their text.
template <class L, class Record>
concept AppendableList = requires(L list, const Record& record) {
  list.append(record);
};

/// A list of an OCI spec whose records CDI finds again by key, to replace, remove or sort them. The
/// key of a variable is its name, that of a device node its path, that of a mount its destination.
///
/// `rearrange(order)` makes the list those of its records whose indices are in `order`, each at
/// most once, in that order.
template <class L, class Record>
concept KeyedList = AppendableList<L, Record> &&
    requires(L list, const L& view, std::size_t i, const Record& record,
             std::span<const std::size_t> order) {
  { view.size() } -> std::convertible_to<std::size_t>;
  { view.key(i) } -> std::convertible_to<std::string_view>;
  list.assign(i, record);
  list.rearrange(order);
};

/// The user and group of the container's process, 0 when the OCI spec names none.
struct Owner {
  std::uint32_t uid = 0;  ///< `process.user.uid`
  std::uint32_t gid = 0;  ///< `process.user.gid`
};

/// The parts of an OCI spec that an injection is about to touch.
struct TouchedParts {
  bool env = false;          ///< `process.env`
  bool devices = false;      ///< `linux.devices`, and `linux.resources.devices`, the cgroup rules
  bool net_devices = false;  ///< `linux.netDevices`
  bool mounts = false;       ///< `mounts`
  std::array<bool, oci::hook_point_names.size()> hooks{};  ///< `hooks`, each list by `HookPoint`
  bool intel_rdt = false;                                  ///< `linux.intelRdt`
  bool additional_gids = false;                            ///< `process.user.additionalGids`
};

/// How to reach the parts of an OCI spec of type `OciSpec` that CDI edits.
///
/// This is the one thing to write to use the library with another OCI spec type: specialize it, so
/// that `SpecEditor<OciSpec>{spec}` has the functions that `Editable` names, and `apply` works. It
/// only says where things are; what CDI does with them is decided in `apply` alone. The functions
/// that give lists make missing parents, and are not called unless there is something to add.
///
/// A type may lack these parts; edits that need one are then refused with `Errc::unsupported`:
///
///     auto device_rules();     // .append(oci::LinuxDeviceCgroupView)
///     auto net_devices();      // .set(host interface name, oci::LinuxNetDeviceView)
///     auto additional_gids();  // .size(), .id(i), .append(std::uint32_t)
///     void set_intel_rdt(const oci::LinuxIntelRdtView&);
///
/// A type whose parts may be of a wrong kind, as in a JSON document, also has
/// `Result<void> check(const TouchedParts&)`, which is asked before the first change.
/// `oci/editor.hpp` is an example of all of it.
template <class OciSpec>
struct SpecEditor;

/// An OCI spec that edits can be applied to: it has a `SpecEditor` with the parts that every OCI
/// spec has.
template <class OciSpec>
concept Editable = requires(SpecEditor<OciSpec> editor, oci::HookPoint point) {
  { editor.env() } -> KeyedList<std::string_view>;
  { editor.devices() } -> KeyedList<oci::LinuxDeviceView>;
  { editor.mounts() } -> KeyedList<oci::MountView>;
  { editor.hooks(point) } -> AppendableList<oci::HookView>;
  { editor.owner() } -> std::same_as<Owner>;
  { editor.has_user_namespace() } -> std::same_as<bool>;
};

namespace detail {

/// `NAME` of `NAME=value`; the whole entry when it has no `=`.
inline std::string_view env_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

/// What a keyed list is to become: worked out beside the list, with an index of its keys, and then
/// done at once. Costs one pass over the list and one hash for each record, old and new.
template <class List, class Record>
class ListPlan {
 public:
  explicit ListPlan(List& list) : list_{list} {
    slots_.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) add({.key = list.key(i), .index = i});
  }

  /// The last record of that key is replaced in its place; else the new one is appended.
  void replace_last_or_append(std::string_view key, Record record) {
    const auto found = chains_.find(key);
    if (found == chains_.end()) return append(key, std::move(record));
    slots_[found->second.last].record = keep(std::move(record));
  }

  /// The first record of that key is replaced in its place; else the new one is appended.
  void replace_first_or_append(std::string_view key, Record record) {
    const auto found = chains_.find(key);
    if (found == chains_.end()) return append(key, std::move(record));
    slots_[found->second.first].record = keep(std::move(record));
  }

  void append(std::string_view key, Record record) {
    add({.key = key, .record = keep(std::move(record))});
  }

  void remove_first(std::string_view key) {
    const auto found = chains_.find(key);
    if (found == chains_.end()) return;
    Slot& slot = slots_[found->second.first];
    slot.removed = true;
    found->second.first = slot.next;
    if (slot.next == none) chains_.erase(found);
  }

  /// Sorts by `rank(key)`, keeping the order of those of equal rank.
  template <class Rank>
  void sort_by(Rank&& rank) {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].rank = {rank(slots_[i].key), i};
    std::sort(slots_.begin(), slots_.end(),
              [](const Slot& a, const Slot& b) { return a.rank < b.rank; });
    chains_.clear();
  }

  /// Makes the list what was planned. The keys of the list are looked at no more.
  void commit() {
    std::vector<std::size_t> order;
    order.reserve(slots_.size());
    std::size_t size = list_.size();
    bool in_order = true;
    for (const Slot& slot : slots_) {
      if (slot.removed) continue;
      if (slot.index == none) {
        list_.append(records_[slot.record]);
      } else if (slot.record != none) {
        list_.assign(slot.index, records_[slot.record]);
      }
      order.push_back(slot.index == none ? size++ : slot.index);
      in_order = in_order && order.back() + 1 == order.size();
    }
    if (!in_order || order.size() != size) list_.rearrange(order);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct Slot {
    std::string_view key{};
    std::size_t index = none;                    // in the list as it was
    std::size_t record = none;                   // in `records_`
    std::size_t next = none;                     // the next slot of the same key
    std::pair<std::size_t, std::size_t> rank{};  // and the place, to keep the order of equals
    bool removed = false;
  };
  struct Chain {
    std::size_t first = none;
    std::size_t last = none;
  };

  std::size_t keep(Record record) {
    records_.push_back(std::move(record));
    return records_.size() - 1;
  }

  void add(const Slot& slot) {
    const auto at = slots_.size();
    const auto [found, fresh] = chains_.try_emplace(slot.key, Chain{at, at});
    if (!fresh) slots_[std::exchange(found->second.last, at)].next = at;
    slots_.push_back(slot);
  }

  List& list_;
  std::vector<Slot> slots_{};
  std::vector<Record> records_{};                         // those that are new
  std::unordered_map<std::string_view, Chain> chains_{};  // keys of slots not removed
};

/// A device node as the container is to get it, and its rule for the device cgroup; one that allows
/// nothing is none.
struct PlannedDevice {
  oci::LinuxDeviceView device{};
  oci::LinuxDeviceCgroupView rule{};
};

constexpr std::string_view node_type(char type) {
  return type == 'b' ? "b" : type == 'c' ? "c" : "p";
}

/// Completes a device node with what the host knows of it. A node is specified when it has type and
/// major (a FIFO needs no major): then a host without that node is no error.
template <Storage S, HostLookup Host>
Result<PlannedDevice> plan_device(const BasicDeviceNode<S>& node, const Host& host, Owner owner) {
  PlannedDevice plan{.device = {.path = node.path,
                                .type = node.type,
                                .major = node.major,
                                .minor = node.minor,
                                .file_mode = node.file_mode,
                                .uid = node.uid,
                                .gid = node.gid}};
  oci::LinuxDeviceView& device = plan.device;
  const bool specified = !device.type.empty() && (device.major != 0 || device.type == "p");
  const std::string_view host_path = node.host_path.empty() ? node.path : node.host_path;

  if (!specified || !device.file_mode) {
    const auto found = host(host_path);
    if (!found && !specified) return found.error();
    if (found && !device.file_mode) device.file_mode = found->file_mode;
    if (found && !specified) {
      if (device.type.empty()) device.type = node_type(found->type);
      if (device.type != node_type(found->type)) {
        return Error{.code = Errc::host,
                     .message = "host device " + quoted(host_path) + " is of type \"" +
                                std::string{node_type(found->type)} + "\", not " +
                                quoted(device.type),
                     .where = "type"};
      }
      if (device.major == 0 && device.type != "p") {
        device.major = found->major;
        device.minor = found->minor;
      }
    }
  }
  if (!device.uid && owner.uid > 0) device.uid = owner.uid;
  if (!device.gid && owner.gid > 0) device.gid = owner.gid;
  if (device.type == "b" || device.type == "c") {
    plan.rule = {.allow = true, .type = device.type, .major = device.major, .minor = device.minor};
    if (node.permissions.empty()) {
      plan.rule.access = "rwm";
    } else if (node.permissions != "none") {
      plan.rule.access = node.permissions;
    }
  }
  return plan;
}

/// `idmap` for bind mounts and `ridmap` for recursive ones, unless the mount says either: in a user
/// namespace the files of the host would else belong to nobody. The last of bind and rbind decides.
inline void add_id_mapping(oci::MountView& mount) {
  std::string_view wanted = mount.type == "bind" ? "idmap" : "";
  for (const std::string_view option : mount.options) {
    if (option == "idmap" || option == "ridmap") return;
    if (option == "bind") wanted = "idmap";
    if (option == "rbind") wanted = "ridmap";
  }
  if (!wanted.empty()) mount.options.push_back(wanted);
}

}  // namespace detail

/// Applies edits to an OCI spec: `apply(edits, spec)`, or `edits.apply(spec)`.
///
/// All or nothing: what can fail is checked before the first change, and after an error the target
/// is as it was. The result shares no memory with the edits. Several edits count as one whose lists
/// are joined, kind by kind. When one has mounts, all mounts are sorted by depth of their
/// destination, those of one depth keeping their order, as the Go reference does. Costs one host
/// lookup for each device node that does not say everything, and time linear in the entries there
/// are and those that come, but for the sort of the mounts.
///
/// Errors, with `Error::where` seen from the edits where a member is known: `Errc::host` when a
/// device node cannot be completed from the host, or is of another type there; `Errc::unsupported`
/// when the target's type has no place for an edit; `Errc::invalid` for a hook name that is none,
/// and text that is not UTF-8; what the target's `check` says, `Errc::schema` for a JSON document.
/// Other rules are not looked at: `validate` does. SPEC.md, OCI Edits.
///
/// An object rather than a function, so that an unqualified call never finds `std::apply`.
struct ApplyFunction {
  /// Applies one set of edits; `host` answers what a device node of the host is.
  template <Storage S, Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(const BasicContainerEdits<S>& edits, OciSpec& target,
                          const Host& host = {}) const {
    const BasicContainerEdits<S>* const one[] = {&edits};
    std::size_t failed = 0;
    return (*this)(std::span<const BasicContainerEdits<S>* const>{one}, target, host, failed);
  }

  /// Several edits at once; `failed` is the index of those that an error is about, or their number
  /// when it is about the target. No pointer may be null.
  template <Storage S, Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(std::span<const BasicContainerEdits<S>* const> all, OciSpec& target,
                          const Host& host, std::size_t& failed) const {
    SpecEditor<OciSpec> editor{target};
    failed = 0;
    TouchedParts touched;
    for (const auto* edits : all) {
      if (auto r = collect(*edits, touched); !r) return r;
      if (auto r = check_supported<OciSpec>(*edits); !r) return r;
      ++failed;
    }
    if constexpr (requires { editor.check(touched); }) {
      if (auto r = editor.check(touched); !r) return r;
    }
    failed = 0;
    std::vector<detail::PlannedDevice> devices;
    for (const auto* edits : all) {
      if (auto r = plan_devices(*edits, host, editor.owner(), devices); !r) return r;
      ++failed;
    }

    if (touched.env) add_env(editor, all);
    add_devices(editor, devices);
    if constexpr (requires { editor.net_devices(); }) {
      if (touched.net_devices) add_net_devices(editor, all);
    }
    if (touched.mounts) add_mounts(editor, all);
    add_hooks(editor, all);
    if constexpr (requires { editor.set_intel_rdt({}); }) set_intel_rdt(editor, all);
    if constexpr (requires { editor.additional_gids(); }) {
      if (touched.additional_gids) add_gids(editor, all);
    }
    return {};
  }

 private:
  /// Notes what the edits will touch. Fails on what no OCI spec can hold.
  template <Storage S>
  static Result<void> collect(const BasicContainerEdits<S>& edits, TouchedParts& touched) {
    if (auto good = detail::check_writable(edits); !good) return good;
    for (std::size_t i = 0; i < edits.hooks.size(); ++i) {
      const auto point = oci::parse_hook_point(edits.hooks[i].hook_name);
      if (!point) {
        return Error{.code = Errc::invalid,
                     .message = "invalid hook name " + detail::quoted(edits.hooks[i].hook_name),
                     .where = detail::item_path("hooks", i).append(".hookName")};
      }
      touched.hooks[static_cast<std::size_t>(*point)] = true;
    }
    touched.env |= !edits.env.empty();
    touched.devices |= !edits.device_nodes.empty();
    touched.net_devices |= !edits.net_devices.empty();
    touched.mounts |= !edits.mounts.empty();
    touched.intel_rdt |= edits.intel_rdt.has_value();
    for (const std::uint32_t gid : edits.additional_gids) touched.additional_gids |= gid != 0;
    return {};
  }

  template <class OciSpec, Storage S>
  static Result<void> check_supported(const BasicContainerEdits<S>& edits) {
    using Editor = SpecEditor<OciSpec>;
    const auto lacks = [](std::string_view key, std::string_view what) {
      return Error{.code = Errc::unsupported,
                   .message = "the OCI spec type has no place for " + std::string{what},
                   .where = std::string{key}};
    };
    if constexpr (!requires(Editor e) { e.net_devices(); }) {
      if (!edits.net_devices.empty()) return lacks("netDevices", "net devices");
    }
    if constexpr (!requires(Editor e) { e.set_intel_rdt({}); }) {
      if (edits.intel_rdt) return lacks("intelRdt", "Intel RDT settings");
    }
    if constexpr (!requires(Editor e) { e.additional_gids(); }) {
      const auto& gids = edits.additional_gids;
      if (std::any_of(gids.begin(), gids.end(), [](std::uint32_t gid) { return gid != 0; })) {
        return lacks("additionalGids", "additional gids");
      }
    }
    if constexpr (!requires(Editor e) { e.device_rules(); }) {
      if (!edits.device_nodes.empty()) return lacks("deviceNodes", "device cgroup rules");
    }
    return {};
  }

  template <Storage S>
  static Result<void> plan_devices(const BasicContainerEdits<S>& edits, const auto& host,
                                   Owner owner, std::vector<detail::PlannedDevice>& devices) {
    for (std::size_t i = 0; i < edits.device_nodes.size(); ++i) {
      auto plan = detail::plan_device(edits.device_nodes[i], host, owner);
      if (!plan) return std::move(plan).error().under(detail::item_path("deviceNodes", i));
      devices.push_back(std::move(*plan));
    }
    return {};
  }

  /// A variable that is there already keeps its place and gets the new value; of several, the last.
  static void add_env(auto& editor, const auto& all) {
    auto list = editor.env();
    detail::ListPlan<decltype(list), std::string_view> plan{list};
    for (const auto* edits : all) {
      for (const std::string_view entry : edits->env) {
        plan.replace_last_or_append(detail::env_name(entry), entry);
      }
    }
    plan.commit();
  }

  /// A node replaces the first of the same path and moves to the end; a second one of that path
  /// gives its place to the new one. Cgroup rules are added, never taken away.
  static void add_devices(auto& editor, const std::vector<detail::PlannedDevice>& devices) {
    if (devices.empty()) return;
    auto list = editor.devices();
    detail::ListPlan<decltype(list), oci::LinuxDeviceView> plan{list};
    for (const auto& [device, rule] : devices) {
      plan.remove_first(device.path);
      plan.replace_first_or_append(device.path, device);
    }
    plan.commit();
    if constexpr (requires { editor.device_rules(); }) {
      for (const auto& [device, rule] : devices) {
        if (rule.allow) editor.device_rules().append(rule);
      }
    }
  }

  static void add_net_devices(auto& editor, const auto& all) {
    auto interfaces = editor.net_devices();
    for (const auto* edits : all) {
      for (const auto& device : edits->net_devices) {
        interfaces.set(device.host_interface_name, oci::LinuxNetDeviceView{.name = device.name});
      }
    }
  }

  /// A mount replaces the first with the same destination, as text; then all are sorted by depth.
  static void add_mounts(auto& editor, const auto& all) {
    const bool user_namespace = editor.has_user_namespace();
    auto list = editor.mounts();
    detail::ListPlan<decltype(list), oci::MountView> plan{list};
    for (const auto* edits : all) {
      for (const auto& from : edits->mounts) {
        oci::MountView mount{.destination = from.container_path,
                             .type = from.type,
                             .source = from.host_path,
                             .options = {from.options.begin(), from.options.end()}};
        if (user_namespace) detail::add_id_mapping(mount);
        plan.remove_first(from.container_path);
        plan.append(from.container_path, std::move(mount));
      }
    }
    plan.sort_by(detail::path_depth);
    plan.commit();
  }

  static void add_hooks(auto& editor, const auto& all) {
    for (const auto* edits : all) {
      for (const auto& hook : edits->hooks) {
        editor.hooks(*oci::parse_hook_point(hook.hook_name))
            .append(oci::HookView{.path = hook.path,
                                  .args = {hook.args.begin(), hook.args.end()},
                                  .env = {hook.env.begin(), hook.env.end()},
                                  .timeout = hook.timeout});
      }
    }
  }

  /// The last settings count, whole; they replace those of the OCI spec.
  static void set_intel_rdt(auto& editor, const auto& all) {
    for (auto edits = all.rbegin(); edits != all.rend(); ++edits) {
      if (!(*edits)->intel_rdt) continue;
      const auto& rdt = *(*edits)->intel_rdt;
      oci::LinuxIntelRdtView settings{.clos_id = rdt.clos_id,
                                      .l3_cache_schema = rdt.l3_cache_schema,
                                      .mem_bw_schema = rdt.mem_bw_schema,
                                      .enable_monitoring = rdt.enable_monitoring ||
                                                           rdt.enable_cmt.value_or(false) ||
                                                           rdt.enable_mbm.value_or(false)};
      if (rdt.schemata) settings.schemata = {rdt.schemata->begin(), rdt.schemata->end()};
      return editor.set_intel_rdt(settings);
    }
  }

  /// Group 0 is never added, nor one that is there already.
  static void add_gids(auto& editor, const auto& all) {
    auto list = editor.additional_gids();
    std::unordered_set<std::uint32_t> there;
    for (std::size_t i = 0; i < list.size(); ++i) there.insert(list.id(i));
    for (const auto* edits : all) {
      for (const std::uint32_t gid : edits->additional_gids) {
        if (gid != 0 && there.insert(gid).second) list.append(gid);
      }
    }
  }
};

/// Applies edits to an OCI spec in place, all or nothing: see `ApplyFunction`.
inline constexpr ApplyFunction apply{};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_APPLY_HPP
