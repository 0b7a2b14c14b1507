// The engine: checks container edits, and applies them to an OCI spec.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_APPLY_HPP
#define CDI_ENGINE_APPLY_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/list_plan.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

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

using NodeView = BasicDeviceNode<Borrowed>;

/// A host of any type, to be asked.
struct AnyHost {
  const void* host;
  Result<HostNode> (*ask)(const void* host, std::string_view path);
};

struct PlannedHook {
  oci::HookPoint point{};
  oci::HookView hook{};
};

/// Edits of any storage as views, joined kind by kind.
struct JoinedEdits {
  JoinedEdits();  // here and not in each file that applies edits
  JoinedEdits(const JoinedEdits&) = delete;
  JoinedEdits& operator=(const JoinedEdits&) = delete;
  ~JoinedEdits();

  std::vector<std::string_view> env;
  std::vector<NodeView> nodes;
  std::vector<std::size_t> nodes_end;  // of each set of edits: its nodes end there
  std::vector<BasicNetDevice<Borrowed>> net_devices;
  std::vector<PlannedHook> hooks;
  std::vector<oci::MountView> mounts;
  oci::LinuxIntelRdtView intel_rdt;  // the last settings, whole
  std::vector<std::uint32_t> gids;   // without 0
  TouchedParts touched;
};

/// Whether a type has a place for the parts that it may lack.
struct OptionalParts {
  bool net_devices = false;
  bool intel_rdt = false;
  bool additional_gids = false;
  bool device_rules = false;
};

/// Whether there is a place for all that is touched.
Result<void> check_places(const OptionalParts& places, const TouchedParts& touched);

/// Joins sets of edits. Fails on what no OCI spec can hold, and on what `places` has no place for;
/// `failed` is then the index of the set. A storage that is neither `Owning` nor `Borrowed` needs
/// `cdi/engine/impl/apply.hpp` in the compiled mode.
template <Storage S>
Result<void> join(std::span<const BasicContainerEdits<S>* const> all, const OptionalParts& places,
                  JoinedEdits& to, std::size_t& failed);

/// Completes device nodes with what the host knows of them; `failed` is the index of the set of
/// edits that an error is about.
Result<void> complete_devices(JoinedEdits& edits, const AnyHost& host, Owner owner,
                              std::size_t& failed);

/// A completed device node as the container is to get it.
oci::LinuxDeviceView linux_device(const NodeView& node);

/// The rule of a completed device node for the device cgroup; one that allows nothing is none.
oci::LinuxDeviceCgroupView device_rule(const NodeView& node);

/// Adds `idmap` to bind mounts and `ridmap` to recursive ones, unless a mount has either: in a
/// user namespace, the files of the host would otherwise have no known owner.
void add_id_mappings(std::vector<oci::MountView>& mounts);

/// An editor with a place for net devices; so the others for the other parts that a type may lack.
template <class Editor>
concept HasNetDevices = requires(Editor editor) {
  editor.net_devices();
};
template <class Editor>
concept HasIntelRdt = requires(Editor editor) {
  editor.set_intel_rdt({});
};
template <class Editor>
concept HasGids = requires(Editor editor) {
  editor.additional_gids();
};
template <class Editor>
concept HasDeviceRules = requires(Editor editor) {
  editor.device_rules();
};

template <class Editor>
inline constexpr OptionalParts places_of{
    .net_devices = HasNetDevices<Editor>,
    .intel_rdt = HasIntelRdt<Editor>,
    .additional_gids = HasGids<Editor>,
    .device_rules = HasDeviceRules<Editor>,
};

/// `NAME` of `NAME=value`; the whole entry when it has no `=`.
inline std::string_view env_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// What is known of a record that comes to a list: its key, and what the list is given.
inline std::string_view key_of(std::string_view entry) {
  return env_name(entry);
}
inline std::string_view key_of(const NodeView& node) {
  return node.path;
}
inline std::string_view key_of(const oci::MountView& mount) {
  return mount.destination;
}
inline std::string_view view_of(std::string_view entry) {
  return entry;
}
inline oci::LinuxDeviceView view_of(const NodeView& node) {
  return linux_device(node);
}
inline const oci::MountView& view_of(const oci::MountView& mount) {
  return mount;
}

/// A variable that is there already keeps its place and gets the new value; of several, the last.
void plan_env(ListPlan& plan, std::size_t records);

/// A node replaces the first of the same path and moves to the end; a second one of that path
/// gives its place to the new one.
void plan_devices(ListPlan& plan, std::size_t records);

/// A mount replaces the first with the same destination, as text; then all are sorted by depth.
void plan_mounts(ListPlan& plan, std::size_t records);

/// Makes a list what `make_plan` plans for it and the records that come.
template <class List, class Record>
void change(List list, const std::vector<Record>& records,
            void (*make_plan)(ListPlan& plan, std::size_t records)) {
  const std::size_t entries = list.size();
  ListPlan plan{entries, records.size()};
  for (std::size_t i = 0; i < entries; ++i) plan.entry_key(i, list.key(i));
  for (std::size_t i = 0; i < records.size(); ++i) plan.record_key(i, key_of(records[i]));
  plan.start();
  make_plan(plan, records.size());
  for (std::size_t i = 0; i < plan.order().size(); ++i) {
    if (plan.record(i) == ListPlan::none) continue;
    const auto& record = view_of(records[plan.record(i)]);
    const std::size_t at = plan.order()[i];
    if (at < entries) {
      list.assign(at, record);
    } else {
      list.append(record);
    }
  }
  if (plan.rearranged()) list.rearrange(plan.order());
}

/// A group that is there already is not added.
template <class List>
void add_gids(List list, const std::vector<std::uint32_t>& gids) {
  ListPlan plan{list.size(), gids.size()};
  for (std::size_t i = 0; i < list.size(); ++i) plan.entry_key(i, list.id(i));
  for (std::size_t i = 0; i < gids.size(); ++i) plan.record_key(i, gids[i]);
  plan.start();
  for (std::size_t i = 0; i < gids.size(); ++i) {
    if (plan.has_key_of(i)) continue;
    plan.append(i);
    list.append(gids[i]);
  }
}

/// Carries out edits that were checked.
template <class Editor>
void perform(Editor& editor, JoinedEdits& edits) {
  const TouchedParts& touched = edits.touched;
  if (touched.env) detail::change(editor.env(), edits.env, plan_env);
  if (touched.devices) detail::change(editor.devices(), edits.nodes, plan_devices);
  if constexpr (HasDeviceRules<Editor>) {
    for (const auto& node : edits.nodes) {  // rules are added, never taken away
      const auto rule = device_rule(node);
      if (rule.allow) editor.device_rules().append(rule);
    }
  }
  if constexpr (HasNetDevices<Editor>) {
    if (touched.net_devices) {
      auto interfaces = editor.net_devices();
      for (const auto& device : edits.net_devices) {
        oci::LinuxNetDeviceView view;
        view.name = device.name;
        interfaces.set(device.host_interface_name, view);
      }
    }
  }
  if (touched.mounts) {
    if (editor.has_user_namespace()) detail::add_id_mappings(edits.mounts);
    detail::change(editor.mounts(), edits.mounts, plan_mounts);
  }
  for (const auto& [point, hook] : edits.hooks) editor.hooks(point).append(hook);
  if constexpr (HasIntelRdt<Editor>) {
    if (touched.intel_rdt) editor.set_intel_rdt(edits.intel_rdt);
  }
  if constexpr (HasGids<Editor>) {
    if (touched.additional_gids) detail::add_gids(editor.additional_gids(), edits.gids);
  }
}

/// Applies joined edits to a target, all or none; `failed` is the index of the set of edits that an
/// error is about, and else their number.
template <class OciSpec>
Result<void> edit(OciSpec& target, JoinedEdits& edits, const AnyHost& host, std::size_t& failed) {
  SpecEditor<OciSpec> editor{target};
  if constexpr (requires { editor.check(edits.touched); }) {
    if (auto r = editor.check(edits.touched); !r) return r;
  }
  if (auto r = detail::complete_devices(edits, host, editor.owner(), failed); !r) return r;
  detail::perform(editor, edits);
  return {};
}

}  // namespace detail

/// Applies edits to an OCI spec: `apply(edits, spec)`, or `edits.apply(spec)`.
///
/// All or nothing: what can fail is checked before the first change, and after an error the target
/// is as it was. The result shares no memory with the edits. Several edits count as one whose lists
/// are joined, kind by kind. When one has mounts, all mounts are sorted by depth of their
/// destination, those of one depth keeping their order, as the Go reference does. Costs one host
/// lookup for each device node that does not say everything, and time that grows with the entries
/// there are and those that come as a sort of them does.
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
    detail::JoinedEdits joined;
    auto fits = detail::join(all, detail::places_of<SpecEditor<OciSpec>>, joined, failed);
    if (!fits) return fits;
    auto* const lookup = &host;  // of an object or a function
    const detail::AnyHost any_host{&lookup, [](const void* known, std::string_view path) {
                                     return (**static_cast<decltype(&lookup)>(known))(path);
                                   }};
    return detail::edit(target, joined, any_host, failed);
  }
};

/// Applies edits to an OCI spec in place, all or nothing: see `ApplyFunction`.
inline constexpr ApplyFunction apply{};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/impl/apply.hpp>
#endif

#endif  // CDI_ENGINE_APPLY_HPP
