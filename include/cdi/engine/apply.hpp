// The engine: checks container edits, and applies them to an OCI spec.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_APPLY_HPP
#define CDI_ENGINE_APPLY_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/joined_edits.hpp>
#include <cdi/engine/list_plan.hpp>
#include <cdi/engine/spec_editor.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// An editor with a place for net devices. The next concepts are the same for other optional parts.
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

// The key of a new record.
inline std::string_view key_of(std::string_view entry) {
  return env_name(entry);
}
inline std::string_view key_of(const NodeView& node) {
  return node.path;
}
inline std::string_view key_of(const PlannedMount& mount) {
  return mount.destination;
}

/// Gives the views of new records that a list gets. One is valid until the next.
struct RecordViews {
  const JoinedEdits& edits;
  oci::MountView mount{};
  oci::HookView hook{};

  std::string_view of(std::string_view entry) { return entry; }
  oci::LinuxDeviceView of(const NodeView& node) { return linux_device(node); }
  const oci::MountView& of(const PlannedMount& planned) {
    return fill_view(edits, planned, mount), mount;
  }
  const oci::HookView& of(const PlannedHook& planned) {
    return fill_view(edits, planned, hook), hook;
  }
};

/// Makes room for so many more records in a list that can.
template <class List>
void make_room(List& list, std::size_t records) {
  if constexpr (requires { list.reserve(records); }) list.reserve(list.size() + records);
}

/// An existing variable keeps its place and gets the new value; of several, the last one.
void plan_env(ListPlan& plan, std::size_t records);

/// A node replaces the first node of its path, and moves to the end, or to the place of a second
/// node of that path.
void plan_devices(ListPlan& plan, std::size_t records);

/// A mount replaces the first with the same destination, as text; then all are sorted by depth.
void plan_mounts(ListPlan& plan, std::size_t records);

/// Changes a list as `make_plan` plans it.
template <class List, class Record>
void change(List list, const std::vector<Record>& records, RecordViews& views,
            void (*make_plan)(ListPlan& plan, std::size_t records)) {
  const std::size_t entries = list.size();
  ListPlan plan{entries, records.size()};
  for (std::size_t i = 0; i < entries; ++i) plan.entry_key(i, list.key(i));
  for (std::size_t i = 0; i < records.size(); ++i) plan.record_key(i, key_of(records[i]));
  plan.start();
  make_plan(plan, records.size());
  detail::make_room(list, records.size());
  for (std::size_t i = 0; i < plan.order().size(); ++i) {
    if (plan.record(i) == ListPlan::none) continue;
    const auto& record = views.of(records[plan.record(i)]);
    const std::size_t at = plan.order()[i];
    if (at < entries) {
      list.assign(at, record);
    } else {
      list.append(record);
    }
  }
  if (plan.rearranged()) list.rearrange(plan.order());
}

/// Adds the groups that are missing.
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

/// Adds the rules of device nodes; none is ever removed.
template <class Editor>
void add_device_rules(Editor& editor, const std::vector<NodeView>& nodes) {
  for (const auto& node : nodes) {
    const auto rule = device_rule(node);
    if (rule.allow) editor.device_rules().append(rule);
  }
}

/// Performs edits that were checked.
template <class Editor>
void perform(Editor& editor, JoinedEdits& edits) {
  const TouchedParts& touched = edits.touched;
  RecordViews views{edits};
  if (touched.env) detail::change(editor.env(), edits.env, views, plan_env);
  if (touched.devices) detail::change(editor.devices(), edits.nodes, views, plan_devices);
  if constexpr (HasDeviceRules<Editor>) detail::add_device_rules(editor, edits.nodes);
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
    if (editor.has_user_namespace()) detail::add_id_mappings(edits);
    detail::change(editor.mounts(), edits.mounts, views, plan_mounts);
  }
  for (const auto& hook : edits.hooks) editor.hooks(hook.point).append(views.of(hook));
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
  if (auto r = detail::complete_devices(edits, host, editor.process_user(), failed); !r) return r;
  detail::perform(editor, edits);
  if constexpr (requires { editor.finish(); }) editor.finish();
  return {};
}

}  // namespace detail

/// An OCI spec whose editor has all parts that edits can change. With
/// `static_assert(cdi::FullyEditable<YourSpec>)`, the compiler reports a part that is missing or
/// misspelt; without it, edits of the part fail with `Errc::unsupported`.
template <class OciSpec>
concept FullyEditable = Editable<OciSpec> && detail::HasNetDevices<SpecEditor<OciSpec>> &&
    detail::HasIntelRdt<SpecEditor<OciSpec>> && detail::HasGids<SpecEditor<OciSpec>> &&
    detail::HasDeviceRules<SpecEditor<OciSpec>>;

/// Applies edits to an OCI spec: `apply(edits, spec)`, or `edits.apply(spec)`.
///
/// All or nothing: everything that can fail is checked before the first change, and after an error
/// the target is unchanged. The result shares no memory with the edits. Several edits count as one
/// whose lists are joined, kind by kind. When there are mounts, all mounts of the target are sorted
/// by the depth of their destination, with a stable sort, like in the Go reference. Costs one host
/// lookup for each incomplete device node, and a sort of the old and new entries of each list.
///
/// Errors, with `Error::where` seen from the edits where a member is known: `Errc::host` when a
/// device node cannot be completed from the host, or is of another type there; `Errc::unsupported`
/// when the type of the target has no place for an edit; `Errc::invalid` for an unknown hook name,
/// and for text that is not UTF-8; the error of the target's `check`, `Errc::schema` for a JSON
/// document. The other rules are those of `validate`. SPEC.md, OCI Edits.
///
/// An object rather than a function, so that an unqualified call never finds `std::apply`.
struct ApplyFunction {
  /// Applies one set of edits; `host` gives the device nodes of the host.
  template <Storage S, Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(const BasicContainerEdits<S>& edits, OciSpec& target,
                          const Host& host = {}) const {
    const BasicContainerEdits<S>* const one[] = {&edits};
    std::size_t failed = 0;
    return (*this)(std::span<const BasicContainerEdits<S>* const>{one}, target, host, failed);
  }

  /// Several edits at once; `failed` is the index of those that an error is about, or their number
  /// when it is about the target. No pointer may be null. Texts that are `Texts::utf8` are not
  /// checked again.
  template <Storage S, Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(std::span<const BasicContainerEdits<S>* const> all, OciSpec& target,
                          const Host& host, std::size_t& failed,
                          detail::Texts texts = detail::Texts::unknown) const {
    detail::JoinedEdits joined;
    auto fits = detail::join(all, texts, detail::places_of<SpecEditor<OciSpec>>, joined, failed);
    if (!fits) return fits;
    auto* const lookup = &host;  // of an object or a function
    const detail::AnyHost any_host{&lookup, [](const void* known, std::string_view path) {
                                     return (**static_cast<decltype(&lookup)>(known))(path);
                                   }};
    if constexpr (requires {
                    use_options(joined, any_host, host.options, failed);
                  }) {  // `HostWithOptions`
      const auto kept = use_options(joined, any_host, host.options, failed);
      if (!kept) return kept.error();
      return detail::edit(target, joined, any_host, failed);
    }
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
