// This library's OCI model, `cdi::oci::Spec`, as a target of edits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_OCI_EDITOR_HPP
#define CDI_TARGETS_OCI_EDITOR_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/copy_as.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline std::string_view oci_key(std::string_view entry) {
  return env_name(entry);
}
template <class S>
std::string_view oci_key(const oci::BasicLinuxDevice<S>& device) {
  return device.path;
}
template <class S>
std::string_view oci_key(const oci::BasicMount<S>& mount) {
  return mount.destination;
}

/// Fills a new list.
template <class List>
void fill_texts(const std::vector<std::string_view>& from, List& to) {
  to.reserve(from.size());
  for (const std::string_view text : from) to.emplace_back(text);
}

template <class List>
bool same_texts(const List& list, const std::vector<std::string_view>& texts) {
  if (list.size() != texts.size()) return false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (list[i] != texts[i]) return false;
  }
  return true;
}

// Fill a new record. Most records of edits are mounts and hooks; separate functions for these cut
// the time of an injection by a third.
template <class From, class To>
void fill(const From& from, To& to) {
  detail::copy_value(from, to);
}
template <class S>
void fill(const oci::MountView& from, oci::BasicMount<S>& to) {
  if (!from.uid_mappings.empty() || !from.gid_mappings.empty() || !from.extra.empty()) {
    return detail::copy_value(from, to);
  }
  to.destination = StringOf<S>{from.destination};  // cheaper than assigning a view
  to.type = StringOf<S>{from.type};
  to.source = StringOf<S>{from.source};
  detail::fill_texts(from.options, to.options);
}
template <class S>
void fill(const oci::HookView& from, oci::BasicHook<S>& to) {
  if (!from.extra.empty()) return detail::copy_value(from, to);
  to.path = StringOf<S>{from.path};
  detail::fill_texts(from.args, to.args);
  detail::fill_texts(from.env, to.env);
  to.timeout = from.timeout;
}

/// A list member of this library's OCI model.
template <class List>
struct ModelList {
  List& items;

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const { return oci_key(items[i]); }
  void reserve(std::size_t count) { items.reserve(count); }
  bool equals(std::size_t i, const auto& record) const {
    if constexpr (requires { record.args; }) {  // compared first: most hooks differ here
      if (items[i].path != record.path || !same_texts(items[i].args, record.args)) return false;
    }
    typename List::value_type made;
    detail::fill(record, made);
    return made == items[i];
  }
  void append(const auto& record) { detail::fill(record, items.emplace_back()); }
  void assign(std::size_t i, const auto& record) { detail::copy_value(record, items[i]); }
  void rearrange(std::span<const std::size_t> order) {
    List kept;
    kept.reserve(order.size());
    for (const std::size_t i : order) kept.push_back(std::move(items[i]));
    items = std::move(kept);
  }
  std::uint32_t id(std::size_t i) const { return items[i]; }
  const auto& record(std::size_t i) const { return items[i]; }
};

/// The map of net devices in this library's OCI model.
template <class Dict>
struct ModelDict {
  Dict& items;

  void set(std::string_view key, const auto& record) {
    detail::copy_value(record, items[typename Dict::key_type{key}]);
  }
  /// Returns the entry of a key, or null.
  const typename Dict::mapped_type* find(std::string_view key) const {
    const auto found = items.find(typename Dict::key_type{key});
    return found == items.end() ? nullptr : &found->second;
  }
};

}  // namespace detail

/// Edits this library's OCI model, for `apply`; apply/spec_editor.hpp describes editors. Missing
/// parts are created when needed. Afterwards, a `Borrowed` model points into the edits, which must
/// outlive it.
template <Storage S>
struct SpecEditor<oci::BasicSpec<S>> {
  /// A list in the model.
  template <class T>
  using List = detail::ModelList<ListOf<S, T>>;

  /// Whether the model points into the edits: see `KeepsViews`.
  static constexpr bool keeps_views = Borrowing<oci::BasicSpec<S>>;

  oci::BasicSpec<S>& spec;  ///< the edited spec; must outlive the editor and its lists

  /// Returns `process.env`; the key of a variable is its name.
  List<StringOf<S>> env() { return {process().env}; }
  /// Returns `linux.devices`; the key of a node is its path in the container.
  List<oci::BasicLinuxDevice<S>> devices() { return {linux_part().devices}; }
  /// Returns `linux.resources.devices`, for appending.
  List<oci::BasicLinuxDeviceCgroup<S>> device_rules() {
    auto& resources = linux_part().resources;
    return {(resources ? *resources : resources.emplace()).devices};
  }
  /// Returns `linux.netDevices`; the key of an interface is its name on the host.
  detail::ModelDict<DictOf<S, oci::BasicLinuxNetDevice<S>>> net_devices() {
    return {linux_part().net_devices};
  }
  /// Returns `mounts`; the key of a mount is its destination, as text.
  List<oci::BasicMount<S>> mounts() { return {spec.mounts}; }
  /// Returns the list of `hooks` for one hook point, for appending.
  List<oci::BasicHook<S>> hooks(oci::HookPoint point) {
    return {(spec.hooks ? *spec.hooks : spec.hooks.emplace()).at(point)};
  }
  /// Replaces `linux.intelRdt` with these settings.
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) {
    detail::copy_value(settings, linux_part().intel_rdt.emplace());
  }
  /// Returns `linux.intelRdt`, or null if it is absent.
  const oci::BasicLinuxIntelRdt<S>* intel_rdt() const {
    return spec.linux_ && spec.linux_->intel_rdt ? &*spec.linux_->intel_rdt : nullptr;
  }
  /// Returns `process.user.additionalGids`.
  List<std::uint32_t> additional_gids() { return {process().user.additional_gids}; }

  /// Returns `process.user`; the IDs are 0 if there is no process.
  ProcessUser process_user() const {
    if (!spec.process) return {};
    return {spec.process->user.uid, spec.process->user.gid};
  }
  /// Returns whether `linux` has a `user` namespace, and mappings of user and group ids.
  bool has_id_mappings() const {
    if (!spec.linux_) return false;
    if (spec.linux_->uid_mappings.empty() || spec.linux_->gid_mappings.empty()) return false;
    for (const auto& each : spec.linux_->namespaces) {
      if (each.type == "user") return true;
    }
    return false;
  }

 private:
  oci::BasicProcess<S>& process() { return spec.process ? *spec.process : spec.process.emplace(); }
  oci::BasicLinux<S>& linux_part() { return spec.linux_ ? *spec.linux_ : spec.linux_.emplace(); }
};

#ifdef CDI_COMPILED
extern template Result<void> detail::edit(oci::Spec& target, JoinedEdits& edits,
                                          const HostRef& host);
#endif

}  // namespace cdi

#ifdef CDI_SOURCE
#include <cdi/targets/oci_editor.inl>
#endif

#endif  // CDI_TARGETS_OCI_EDITOR_HPP
