// The parts of an OCI spec that an editor supports: `FullyEditable`, and `missing_parts`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_EDITOR_PARTS_HPP
#define CDI_APPLY_EDITOR_PARTS_HPP

#include <concepts>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/joined_edits.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// An editor that supports net devices. The concepts below cover the other optional parts.
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

/// An editor whose lists can compare their entries with records.
template <class Editor>
concept Compares = requires(Editor editor, oci::HookPoint point) {
  { editor.devices() } -> ComparableList<oci::LinuxDeviceView>;
  { editor.device_rules() } -> ComparableList<oci::LinuxDeviceCgroupView>;
  { editor.mounts() } -> ComparableList<oci::MountView>;
  { editor.hooks(point) } -> ComparableList<oci::HookView>;
};

template <class Editor>
inline constexpr OptionalParts parts_of{
    .net_devices = HasNetDevices<Editor>,
    .intel_rdt = HasIntelRdt<Editor>,
    .additional_gids = HasGids<Editor>,
    .device_rules = HasDeviceRules<Editor>,
};

}  // namespace detail

/// An OCI spec whose editor supports all parts that edits can change, and compares list entries.
/// `static_assert(cdi::FullyEditable<YourSpec>)` makes the compiler report a part that is missing
/// or misspelt; without it, edits of the part fail with `Errc::unsupported`, and a repeated
/// injection adds hooks and rules again.
template <class OciSpec>
concept FullyEditable = Editable<OciSpec> && detail::HasNetDevices<SpecEditor<OciSpec>> &&
    detail::HasIntelRdt<SpecEditor<OciSpec>> && detail::HasGids<SpecEditor<OciSpec>> &&
    detail::HasDeviceRules<SpecEditor<OciSpec>> && detail::Compares<SpecEditor<OciSpec>>;

namespace detail {

// Concepts for the single functions of an editor, used by `missing_parts`.
template <class Editor>
concept HasEnv = requires(Editor editor) {
  { editor.env() } -> KeyedList<std::string_view>;
};
template <class Editor>
concept HasDevices = requires(Editor editor) {
  { editor.devices() } -> KeyedList<oci::LinuxDeviceView>;
};
template <class Editor>
concept ComparesDevices = requires(Editor editor) {
  { editor.devices() } -> ComparableList<oci::LinuxDeviceView>;
};
template <class Editor>
concept HasMounts = requires(Editor editor) {
  { editor.mounts() } -> KeyedList<oci::MountView>;
};
template <class Editor>
concept ComparesMounts = requires(Editor editor) {
  { editor.mounts() } -> ComparableList<oci::MountView>;
};
template <class Editor>
concept HasHooks = requires(Editor editor) {
  { editor.hooks(oci::HookPoint{}) } -> AppendableList<oci::HookView>;
};
template <class Editor>
concept ComparesHooks = requires(Editor editor) {
  { editor.hooks(oci::HookPoint{}) } -> ComparableList<oci::HookView>;
};
template <class Editor>
concept HasProcessUser = requires(Editor editor) {
  { editor.process_user() } -> std::same_as<ProcessUser>;
};
template <class Editor>
concept HasIdMappings = requires(Editor editor) {
  { editor.has_id_mappings() } -> std::same_as<bool>;
};
template <class Editor>
concept ComparesRules = requires(Editor editor) {
  { editor.device_rules() } -> ComparableList<oci::LinuxDeviceCgroupView>;
};

}  // namespace detail

/// Returns the functions of `FullyEditable` that a type's editor lacks or declares differently;
/// empty for a complete editor. Print the result while you write an editor.
template <class OciSpec>
std::vector<std::string_view> missing_parts() {
  using Editor = SpecEditor<OciSpec>;
  const std::pair<bool, std::string_view> parts[] = {
      {detail::HasEnv<Editor>, "env()"},
      {detail::HasDevices<Editor>, "devices()"},
      {detail::ComparesDevices<Editor>, "devices().equals()"},
      {detail::HasMounts<Editor>, "mounts()"},
      {detail::ComparesMounts<Editor>, "mounts().equals()"},
      {detail::HasHooks<Editor>, "hooks()"},
      {detail::ComparesHooks<Editor>, "hooks().equals()"},
      {detail::HasProcessUser<Editor>, "process_user()"},
      {detail::HasIdMappings<Editor>, "has_id_mappings()"},
      {detail::HasDeviceRules<Editor>, "device_rules()"},
      {detail::ComparesRules<Editor>, "device_rules().equals()"},
      {detail::HasNetDevices<Editor>, "net_devices()"},
      {detail::HasGids<Editor>, "additional_gids()"},
      {detail::HasIntelRdt<Editor>, "set_intel_rdt()"},
  };
  std::vector<std::string_view> missing;
  for (const auto& [has, name] : parts) {
    if (!has) missing.push_back(name);
  }
  return missing;
}

}  // namespace cdi

#endif  // CDI_APPLY_EDITOR_PARTS_HPP
