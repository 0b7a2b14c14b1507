// `SpecEditor`: gives access to the parts of an OCI spec that edits change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_SPEC_EDITOR_HPP
#define CDI_APPLY_SPEC_EDITOR_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A list in an OCI spec to which `apply` adds `Record`s. Records are views: the list copies
/// their text.
template <class L, class Record>
concept AppendableList = requires(L list, const Record& record) {
  list.append(record);
};

/// A list in an OCI spec whose records `apply` finds by key, to replace, remove or sort them.
/// The key is a variable's name, a device node's path or a mount's destination.
///
/// `rearrange(order)` keeps the records whose indices are in `order`, each at most once, in that
/// order. A list may also provide `reserve(count)`, which makes room for `count` records.
template <class L, class Record>
concept KeyedList = AppendableList<L, Record> &&
    requires(L list, const L& view, std::size_t i, const Record& record,
             std::span<const std::size_t> order) {
  { view.size() } -> std::convertible_to<std::size_t>;
  { view.key(i) } -> std::convertible_to<std::string_view>;
  list.assign(i, record);
  list.rearrange(order);
};

/// A list that compares its entries with new records, so that an existing entry is not added again.
/// `equals(i, record)` returns true if `append(record)` would add an entry identical to entry `i`.
/// Lists of device nodes, mounts, hooks and cgroup rules should support this comparison; without
/// it, a repeated injection adds its hooks and rules again.
template <class L, class Record>
concept ComparableList = requires(const L& list, std::size_t i, const Record& record) {
  { list.size() } -> std::convertible_to<std::size_t>;
  { list.equals(i, record) } -> std::convertible_to<bool>;
};

/// The user and group of the container's process; 0 if the OCI spec does not state them.
struct ProcessUser {
  std::uint32_t uid = 0;  ///< `process.user.uid`
  std::uint32_t gid = 0;  ///< `process.user.gid`
};

/// The parts of an OCI spec that edits change.
struct TouchedParts {
  bool env = false;          ///< `process.env`
  bool devices = false;      ///< `linux.devices`, and the cgroup rules in `linux.resources.devices`
  bool net_devices = false;  ///< `linux.netDevices`
  bool mounts = false;       ///< `mounts`
  std::array<bool, oci::hook_point_names.size()> hooks{};  ///< `hooks`, one for each `HookPoint`
  bool intel_rdt = false;                                  ///< `linux.intelRdt`
  bool additional_gids = false;                            ///< `process.user.additionalGids`
};

/// Gives `apply` access to the parts of an OCI spec of type `OciSpec`.
///
/// Specialize this template for your own OCI spec type, so that `SpecEditor<OciSpec>{spec}`
/// provides the functions of `Editable`; then `apply` works. An editor only gives access to the
/// parts; `apply` alone decides how they change. Functions that return lists create missing
/// parents, and are called only if there is something to add.
///
/// A type may lack the parts below; edits that need them then fail with `Errc::unsupported`:
///
///     auto device_rules();     // .append(oci::LinuxDeviceCgroupView)
///     auto net_devices();      // .set(host interface name, oci::LinuxNetDeviceView)
///     auto additional_gids();  // .size(), .id(i), .append(std::uint32_t)
///     void set_intel_rdt(const oci::LinuxIntelRdtView&);
///
/// If parts may be of the wrong kind, as in a JSON document, the editor also provides
/// `Result<void> check(const TouchedParts&)`, which is called before the first change. An editor
/// that collects its changes provides `void finish()`, which is called after the last change.
/// `ComparableList` describes the lists that let a repeated injection change nothing.
/// `targets/oci_editor.hpp` is a complete example.
template <class OciSpec>
struct SpecEditor;

/// An OCI spec that refers to the text of edits, and so must not outlive them. Its editor declares
/// `static constexpr bool keeps_views = true`.
template <class OciSpec>
concept KeepsViews = requires {
  requires SpecEditor<OciSpec>::keeps_views;
};

/// An OCI spec to which edits can be applied: its `SpecEditor` provides the parts that every OCI
/// spec has.
template <class OciSpec>
concept Editable = requires(SpecEditor<OciSpec> editor, oci::HookPoint point) {
  { editor.env() } -> KeyedList<std::string_view>;
  { editor.devices() } -> KeyedList<oci::LinuxDeviceView>;
  { editor.mounts() } -> KeyedList<oci::MountView>;
  { editor.hooks(point) } -> AppendableList<oci::HookView>;
  { editor.process_user() } -> std::same_as<ProcessUser>;
  { editor.has_id_mappings() } -> std::same_as<bool>;
};

}  // namespace cdi

#endif  // CDI_APPLY_SPEC_EDITOR_HPP
