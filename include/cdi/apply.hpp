// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_APPLY_HPP
#define CDI_APPLY_HPP

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

#include <cdi/host.hpp>
#include <cdi/list_plan.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

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

using NodeView = BasicDeviceNode<Borrowed>;

constexpr std::string_view node_type(char type) {
  return type == 'b' ? "b" : type == 'c' ? "c" : "p";
}

/// A host of any type, to be asked.
struct AnyHost {
  const void* host;
  Result<HostNode> (*ask)(const void* host, std::string_view path);
};

/// Completes a device node with what the host knows of it. A node is specified when it has type and
/// major (a FIFO needs no major): then a host without that node is no error.
inline Result<void> complete_device(NodeView& node, const AnyHost& host, Owner owner) {
  const bool specified = !node.type.empty() && (node.major != 0 || node.type == "p");
  const std::string_view host_path = node.host_path.empty() ? node.path : node.host_path;

  if (!specified || !node.file_mode) {
    const auto found = host.ask(host.host, host_path);
    if (!found && !specified) return found.error();
    if (found && !node.file_mode) node.file_mode = found->file_mode;
    if (found && !specified) {
      if (node.type.empty()) node.type = node_type(found->type);
      if (node.type != node_type(found->type)) {
        std::string message = "host device " + quoted(host_path) + " is of type \"";
        message.append(node_type(found->type)).append("\", not ").append(quoted(node.type));
        return Error{.code = Errc::host, .message = std::move(message), .where = "type"};
      }
      if (node.major == 0 && node.type != "p") {
        node.major = found->major;
        node.minor = found->minor;
      }
    }
  }
  if (!node.uid && owner.uid > 0) node.uid = owner.uid;
  if (!node.gid && owner.gid > 0) node.gid = owner.gid;
  return {};
}

/// A completed device node as the container is to get it.
inline oci::LinuxDeviceView linux_device(const NodeView& node) {
  oci::LinuxDeviceView device;
  device.path = node.path;
  device.type = node.type;
  device.major = node.major;
  device.minor = node.minor;
  device.file_mode = node.file_mode;
  device.uid = node.uid;
  device.gid = node.gid;
  return device;
}

/// The rule of a completed device node for the device cgroup; one that allows nothing is none.
inline oci::LinuxDeviceCgroupView device_rule(const NodeView& node) {
  oci::LinuxDeviceCgroupView rule;
  rule.allow = node.type == "b" || node.type == "c";
  rule.type = node.type;
  rule.major = node.major;
  rule.minor = node.minor;
  rule.access = node.permissions.empty()     ? std::string_view{"rwm"}
                : node.permissions == "none" ? std::string_view{}
                                             : node.permissions;
  return rule;
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

struct PlannedHook {
  oci::HookPoint point{};
  oci::HookView hook{};
};

/// Edits of any storage as views, joined kind by kind.
struct JoinedEdits {
  std::vector<std::string_view> env{};
  std::vector<NodeView> nodes{};
  std::vector<BasicNetDevice<Borrowed>> net_devices{};
  std::vector<PlannedHook> hooks{};
  std::vector<oci::MountView> mounts{};
  oci::LinuxIntelRdtView intel_rdt{};  // the last settings, whole
  std::vector<std::uint32_t> gids{};   // without 0
  TouchedParts touched{};
  Result<void> utf8{};  // the first text that is not UTF-8

  /// A view of a text of the edits.
  std::string_view view(std::string_view text) {
    if (utf8 && !is_utf8(text)) utf8 = not_utf8(text);
    return text;
  }
  /// Appends views of texts.
  template <class Texts>
  void add_views(const Texts& texts, std::vector<std::string_view>& to) {
    for (const std::string_view text : texts) to.push_back(view(text));
  }
};

template <Storage S>
void join_node(const BasicDeviceNode<S>& from, JoinedEdits& to) {
  NodeView& node = to.nodes.emplace_back();
  node.path = to.view(from.path);
  node.host_path = to.view(from.host_path);
  node.type = to.view(from.type);
  node.major = from.major;
  node.minor = from.minor;
  node.file_mode = from.file_mode;
  node.permissions = to.view(from.permissions);
  node.uid = from.uid;
  node.gid = from.gid;
}

template <Storage S>
void join_hook(const BasicHook<S>& from, oci::HookPoint point, JoinedEdits& to) {
  auto& [at, hook] = to.hooks.emplace_back();
  at = point;
  hook.path = to.view(from.path);
  to.add_views(from.args, hook.args);
  to.add_views(from.env, hook.env);
  hook.timeout = from.timeout;
}

template <Storage S>
void join_mount(const BasicMount<S>& from, JoinedEdits& to) {
  oci::MountView& mount = to.mounts.emplace_back();
  mount.source = to.view(from.host_path);
  mount.destination = to.view(from.container_path);
  to.add_views(from.options, mount.options);
  mount.type = to.view(from.type);
}

template <Storage S>
void join_intel_rdt(const BasicIntelRdt<S>& from, JoinedEdits& to) {
  to.intel_rdt = {};
  to.intel_rdt.clos_id = to.view(from.clos_id);
  to.intel_rdt.l3_cache_schema = to.view(from.l3_cache_schema);
  to.intel_rdt.mem_bw_schema = to.view(from.mem_bw_schema);
  to.intel_rdt.enable_monitoring =
      from.enable_monitoring || from.enable_cmt.value_or(false) || from.enable_mbm.value_or(false);
  if (from.schemata) to.add_views(*from.schemata, to.intel_rdt.schemata);
}

/// Joins hooks to those before. Fails on a name that is none.
template <class Hooks>
Result<void> join_hooks(const Hooks& hooks, JoinedEdits& to) {
  Result<void> unknown;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const std::string_view name = to.view(hooks[i].hook_name);
    const auto point = oci::parse_hook_point(name);
    if (point) {
      detail::join_hook(hooks[i], *point, to);
      to.touched.hooks[static_cast<std::size_t>(*point)] = true;
    } else if (unknown) {
      unknown = Error{.code = Errc::invalid,
                      .message = "invalid hook name " + quoted(name),
                      .where = item_path("hooks", i).append(".hookName")};
    }
  }
  return unknown;
}

/// Joins edits to those before. Fails on what no OCI spec can hold.
template <Storage S>
Result<void> join(const BasicContainerEdits<S>& edits, JoinedEdits& to) {
  to.add_views(edits.env, to.env);
  for (const auto& node : edits.device_nodes) detail::join_node(node, to);
  for (const auto& device : edits.net_devices) {
    auto& view = to.net_devices.emplace_back();
    view.host_interface_name = to.view(device.host_interface_name);
    view.name = to.view(device.name);
  }
  auto known = detail::join_hooks(edits.hooks, to);
  for (const auto& mount : edits.mounts) detail::join_mount(mount, to);
  if (edits.intel_rdt) detail::join_intel_rdt(*edits.intel_rdt, to);
  for (const std::uint32_t gid : edits.additional_gids) {
    if (gid != 0) to.gids.push_back(gid);
  }
  to.touched.env = !to.env.empty();
  to.touched.devices = !to.nodes.empty();
  to.touched.net_devices = !to.net_devices.empty();
  to.touched.mounts = !to.mounts.empty();
  to.touched.intel_rdt |= edits.intel_rdt.has_value();
  to.touched.additional_gids = !to.gids.empty();
  return to.utf8 ? std::move(known) : std::move(to.utf8);
}

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

inline Error no_place(std::string_view key, std::string_view what) {
  std::string message = "the OCI spec type has no place for ";
  message.append(what);
  return {.code = Errc::unsupported, .message = std::move(message), .where = std::string{key}};
}

/// Whether the editor has a place for all that is touched.
template <class Editor>
Result<void> check_supported(const TouchedParts& touched) {
  if (touched.net_devices && !HasNetDevices<Editor>) return no_place("netDevices", "net devices");
  if (touched.intel_rdt && !HasIntelRdt<Editor>) return no_place("intelRdt", "Intel RDT settings");
  if (touched.additional_gids && !HasGids<Editor>) {
    return no_place("additionalGids", "additional gids");
  }
  if (touched.devices && !HasDeviceRules<Editor>) {
    return no_place("deviceNodes", "device cgroup rules");
  }
  return {};
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
inline void plan_env(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) plan.replace_last_or_append(i);
  plan.finish();
}

/// A node replaces the first of the same path and moves to the end; a second one of that path
/// gives its place to the new one.
inline void plan_devices(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    plan.remove_first(i);
    plan.replace_first_or_append(i);
  }
  plan.finish();
}

/// A mount replaces the first with the same destination, as text; then all are sorted by depth.
inline void plan_mounts(ListPlan& plan, std::size_t records) {
  for (std::size_t i = 0; i < records; ++i) {
    plan.remove_first(i);
    plan.append(i);
  }
  plan.finish(/*by_depth=*/true);
}

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
    if (editor.has_user_namespace()) {
      for (auto& mount : edits.mounts) add_id_mapping(mount);
    }
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
    SpecEditor<OciSpec> editor{target};
    detail::JoinedEdits joined;
    for (failed = 0; failed < all.size(); ++failed) {
      if (auto r = detail::join(*all[failed], joined); !r) return r;
      if (auto r = detail::check_supported<SpecEditor<OciSpec>>(joined.touched); !r) return r;
    }
    if constexpr (requires { editor.check(joined.touched); }) {
      if (auto r = editor.check(joined.touched); !r) return r;
    }
    auto* const lookup = &host;  // of an object or a function
    const detail::AnyHost any_host{&lookup, [](const void* known, std::string_view path) {
                                     return (**static_cast<decltype(&lookup)>(known))(path);
                                   }};
    const Owner owner = editor.owner();
    auto node = joined.nodes.begin();
    for (failed = 0; failed < all.size(); ++failed) {
      for (std::size_t i = 0; i < all[failed]->device_nodes.size(); ++i) {
        auto r = detail::complete_device(*node++, any_host, owner);
        if (!r) return std::move(r).error().under(detail::item_path("deviceNodes", i));
      }
    }
    detail::perform(editor, joined);
    return {};
  }
};

/// Applies edits to an OCI spec in place, all or nothing: see `ApplyFunction`.
inline constexpr ApplyFunction apply{};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_APPLY_HPP
