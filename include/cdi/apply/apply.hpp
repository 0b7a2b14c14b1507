// `apply`: checks container edits and applies them to an OCI spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_APPLY_HPP
#define CDI_APPLY_APPLY_HPP

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/editor_parts.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/apply/joined_edits.hpp>
#include <cdi/apply/list_edits.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// How edits are applied.
struct ApplyOptions {
  /// Whether existing hooks, cgroup rules, mounts and nodes are added again or moved to the end of
  /// their list, as in the Go reference.
  bool duplicates = false;
};

namespace detail {

/// Adds each hook to the list for its hook point.
template <class Editor>
void add_hooks(Editor& editor, const JoinedEdits& edits, RecordViews& views) {
  std::array<MissingRecords, oci::hook_point_names.size()> missing;
  for (const auto& hook : edits.hooks) {
    auto list = editor.hooks(hook.point);
    if (edits.duplicates) {
      list.append(views.of(hook));
    } else {
      missing[static_cast<std::size_t>(hook.point)].add(list, views.of(hook));
    }
  }
}

/// Adds the cgroup rules of device nodes; never removes a rule. If `is_known`, the target already
/// had one of the nodes, so rules that it already has are not added again.
template <class Editor>
void add_device_rules(Editor& editor, const std::vector<NodeView>& nodes, bool is_known) {
  MissingRecords missing;
  for (const auto& node : nodes) {
    const auto rule = device_rule(node);
    if (!rule.allow) continue;
    if (is_known) {
      missing.add(editor.device_rules(), rule);
    } else {
      editor.device_rules().append(rule);
    }
  }
}

/// Performs edits that have been checked.
template <class Editor>
void perform(Editor& editor, JoinedEdits& edits) {
  static_assert(sizeof(TouchedParts) == 6 + sizeof(TouchedParts::hooks), "cdi: edit each part");
  const TouchedParts& touched = edits.touched;
  RecordViews views{edits};
  if (touched.env) detail::merge_records(editor.env(), edits.env, views, merge_env);
  if (touched.devices) {
    const bool is_known =
        detail::merge_records(editor.devices(), edits.nodes, views, merge_devices);
    if constexpr (HasDeviceRules<Editor>) detail::add_device_rules(editor, edits.nodes, is_known);
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
    if (editor.has_id_mappings()) detail::add_id_mappings(edits);
    detail::merge_records(editor.mounts(), edits.mounts, views, merge_mounts);
  }
  detail::add_hooks(editor, edits, views);
  if constexpr (HasIntelRdt<Editor>) {
    if (touched.intel_rdt) editor.set_intel_rdt(edits.intel_rdt);
  }
  if constexpr (HasGids<Editor>) {
    if (touched.additional_gids) detail::add_gids(editor.additional_gids(), edits.gids);
  }
}

/// Applies joined edits to a target, all or none.
template <class OciSpec>
Result<void> edit(OciSpec& target, JoinedEdits& edits, const HostRef& host) {
  SpecEditor<OciSpec> editor{target};
  if constexpr (requires { editor.check(edits.touched); }) {
    if (auto r = editor.check(edits.touched); !r) return r;
  }
  if (auto r = detail::complete_devices(edits, host, editor.process_user()); !r) return r;
  detail::perform(editor, edits);
  if constexpr (requires { editor.finish(); }) editor.finish();
  return {};
}

/// Applies joined edits with a host of any type.
template <class OciSpec, class Host>
Result<void> edit_with(OciSpec& target, JoinedEdits& edits, const Host& host) {
  const HostRef host_ref{host};
  if constexpr (requires { use_options(edits, host_ref, host.options); }) {
    static_assert(!KeepsViews<OciSpec>,
                  "the host options create text that this type would not own");
    const auto kept = use_options(edits, host_ref, host.options);  // only for `HostWithOptions`
    return kept ? detail::edit(target, edits, host_ref) : kept.error();
  } else {
    return detail::edit(target, edits, host_ref);
  }
}

template <class Editor>
struct PleaseWrite;  // see <cdi/apply/spec_editor.hpp>; for a text, use cdi::ConfigJson

/// Makes the compiler report, in one error, why a type cannot be edited. Constraints on `apply`
/// and each function that calls it would print fifty lines instead.
template <class OciSpec>
Result<void> explain_no_editor() {
  if constexpr (requires { sizeof(SpecEditor<OciSpec>); }) {
    static_assert(Editable<OciSpec>, "the SpecEditor of this type lacks a function");
    return {};
  } else {
    return PleaseWrite<SpecEditor<OciSpec>>{};
  }
}

/// Applies several edits at once; `Texts::utf8` means that no text needs to be checked again.
template <Storage S, class OciSpec, class Host>
Result<void> apply_all(std::span<const BasicContainerEdits<S>* const> all, Texts texts,
                       OciSpec& target, const Host& host, const ApplyOptions& options) {
  if constexpr (!Editable<OciSpec>) {
    return detail::explain_no_editor<OciSpec>();
  } else {
    JoinedEdits joined;
    joined.duplicates = options.duplicates;
    auto fits = detail::join(all, texts, parts_of<SpecEditor<OciSpec>>, joined);
    return fits ? detail::edit_with(target, joined, host) : fits;
  }
}

}  // namespace detail

/// Applies edits to an OCI spec: `apply(edits, spec)`, or `edits.apply(spec)`.
///
/// Applies all edits or none: everything that can fail is checked before the first change, and an
/// error leaves the target unchanged. The result shares no memory with the edits. Several edits act
/// as one whose lists are joined, kind by kind. If the edits contain mounts, all mounts of the
/// target are stably sorted by destination depth, as in the Go reference. Costs one host lookup for
/// each incomplete device node, and a sort of the old and new entries of each list. Hooks are
/// compared with the target's hooks, up to 100,000 times; after that, a repeated hook is recognised
/// only in the original order.
///
/// Applying the same edits again changes nothing: a hook, cgroup rule, mount or node that equals an
/// entry which the target had before is not added, and the entry stays in place. Rules are compared
/// only if the target had one of the nodes. Equal entries within the edits are all added, as in the
/// Go reference. `ApplyOptions::duplicates` disables this, and so does a list that is not a
/// `ComparableList`.
///
/// In errors, `Error::where` starts at the edits if the member is known. Fails with `Errc::host` if
/// a device node cannot be completed from the host or has another type there; `Errc::unsupported`
/// if the target's type does not support an edit; `Errc::invalid` for an unknown hook name, a
/// negative device number, text that is not UTF-8, or edits that give a host interface two names,
/// or two host interfaces one name; `Errc::limit` if the edits have more than two million entries,
/// such as variables and texts of hooks; and the error of the target's `check`, which is
/// `Errc::schema` for JSON. The edits of a cache's devices are valid; for others, `validate` checks
/// the other rules. SPEC.md, OCI Edits.
///
/// This is an object rather than a function, so that an unqualified call never finds `std::apply`.
struct ApplyFunction {
  /// Applies one set of edits; `host` provides the device nodes of the host.
  template <Storage S, class OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(const BasicContainerEdits<S>& edits, OciSpec& target,
                          const Host& host = {}, const ApplyOptions& options = {}) const {
    const BasicContainerEdits<S>* const one[] = {&edits};
    return detail::apply_all(std::span<const BasicContainerEdits<S>* const>{one},
                             detail::Texts::unknown, target, host, options);
  }

  /// Applies several edits at once; `Error::edits` identifies the edits at fault. No pointer may be
  /// null.
  template <Storage S, class OciSpec, HostLookup Host = SystemHost>
  Result<void> operator()(std::span<const BasicContainerEdits<S>* const> all, OciSpec& target,
                          const Host& host = {}, const ApplyOptions& options = {}) const {
    return detail::apply_all(all, detail::Texts::unknown, target, host, options);
  }
};

/// Applies edits to an OCI spec in place, all or none: see `ApplyFunction`.
inline constexpr ApplyFunction apply{};

}  // namespace cdi

#endif  // CDI_APPLY_APPLY_HPP
