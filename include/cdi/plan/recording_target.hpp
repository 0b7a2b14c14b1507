// `RecordingTarget`: a target that records each change that `apply` makes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_RECORDING_TARGET_HPP
#define CDI_PLAN_RECORDING_TARGET_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/plan/change.hpp>
#include <cdi/plan/entry_text.hpp>
#include <cdi/plan/list_changes.hpp>
#include <cdi/text/json.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {
namespace detail {

/// A target and the changes that are made to it.
template <class OciSpec>
struct RecordingTarget {
  OciSpec& target;
  std::vector<Change>& changes;
};

/// Returns the text of a target's entry, which is plain text, JSON text or a described record.
template <class Entry>
std::string text_of(const Entry& entry, Rewrite rewrite) {
  if constexpr (std::convertible_to<const Entry&, std::string_view>) {
    return rewrite(entry);
  } else {
    auto text = cdi::write_json(entry, /*indent=*/-1);
    return text ? *std::move(text) : std::string{};
  }
}

/// A list that records its changes.
template <class List>
struct RecordingList {
  List list;
  ListChanges& changes;
  Rewrite rewrite;

  std::size_t size() const { return list.size(); }
  std::string_view key(std::size_t i) const { return list.key(i); }
  std::uint32_t id(std::size_t i) const { return list.id(i); }
  void reserve(std::size_t count) requires requires { list.reserve(count); }
  { list.reserve(count); }
  bool equals(std::size_t i, const auto& record) const requires requires { list.equals(i, record); }
  { return list.equals(i, record); }

  void append(const auto& record) {
    changes.append(detail::describe(record));
    list.append(record);
  }
  void assign(std::size_t i, const auto& record) {
    changes.assign(i, text(i), detail::describe(record));
    list.assign(i, record);
  }
  void rearrange(std::span<const std::size_t> order) {
    for (const std::size_t i : changes.removed(order)) describe_old(i);
    for (const std::size_t i : changes.moved()) describe_old(i);
    list.rearrange(order);
  }

 private:
  std::string text(std::size_t i) const {
    if constexpr (requires { list.record(i); }) {
      return detail::text_of(list.record(i), rewrite);
    } else {
      return {};
    }
  }
  void describe_old(std::size_t i) { changes.describe(i, {std::string{list.key(i)}, text(i)}); }
};

/// An append-only list that records its changes.
template <class List>
struct RecordingOpenList {
  List list;
  std::vector<Change>& changes;
  std::string part;

  std::size_t size() const requires requires { list.size(); }
  { return list.size(); }
  bool equals(std::size_t i, const auto& record) const requires requires { list.equals(i, record); }
  { return list.equals(i, record); }

  void append(const auto& record) {
    auto entry = detail::describe(record);
    Change change{.part = part, .key = std::move(entry.key), .after = std::move(entry.text)};
    if constexpr (requires { list.size(); }) change.to = list.size();
    changes.push_back(std::move(change));
    list.append(record);
  }
};

/// The net devices of a target, with a record of their changes.
template <class Interfaces>
struct RecordingInterfaces {
  Interfaces interfaces;
  std::vector<Change>& changes;

  void set(std::string_view key, const oci::LinuxNetDeviceView& record) {
    Change change{.kind = ChangeKind::replaced,
                  .part = "linux.netDevices",
                  .key = std::string{key},
                  .after = detail::describe(record).text};
    if constexpr (requires { interfaces.find(key); }) {
      if (const auto old = interfaces.find(key)) {
        change.before = detail::text_of(*old, rewrite_net_device);
      } else {
        change.kind = ChangeKind::added;
      }
    }
    changes.push_back(std::move(change));
    interfaces.set(key, record);
  }
};

}  // namespace detail

/// Edits a target with its own editor and records the changes. `Change::before` is filled in if a
/// list has `record(i)`, which returns an entry as text, JSON text or a described record, if
/// `net_devices()` has `find(key)`, and if the editor has `intel_rdt()`; the latter two return a
/// pointer or an optional.
template <class OciSpec>
struct SpecEditor<detail::RecordingTarget<OciSpec>> {
 private:
  using Inner = SpecEditor<OciSpec>;
  // Explicit types, because deduced types would need the bodies wherever an editor is checked.
  template <class List>
  using Recording = detail::RecordingList<List>;
  using Env = decltype(std::declval<Inner&>().env());
  using Devices = decltype(std::declval<Inner&>().devices());
  using Mounts = decltype(std::declval<Inner&>().mounts());
  using Hooks = decltype(std::declval<Inner&>().hooks(oci::HookPoint{}));

 public:
  /// Edits a target that outlives the editor.
  explicit SpecEditor(detail::RecordingTarget<OciSpec>& to)
      : inner_{to.target}, changes_{to.changes} {}

  /// Calls `check` of the target's editor.
  Result<void> check(const TouchedParts& touched) requires requires(Inner inner) {
    inner.check(touched);
  }
  { return inner_.check(touched); }

  /// `process.env`.
  Recording<Env> env() { return keyed("process.env", inner_.env(), detail::keep_text); }
  /// `linux.devices`.
  Recording<Devices> devices() {
    return keyed("linux.devices", inner_.devices(), detail::rewrite_node);
  }
  /// `mounts`.
  Recording<Mounts> mounts() { return keyed("mounts", inner_.mounts(), detail::rewrite_mount); }
  /// `process.user.additionalGids`.
  auto additional_gids() requires detail::HasGids<Inner> {
    return keyed("process.user.additionalGids", inner_.additional_gids(), detail::keep_text);
  }
  /// `linux.resources.devices`.
  auto device_rules() requires detail::HasDeviceRules<Inner> {
    return open("linux.resources.devices", inner_.device_rules());
  }
  /// Returns the hooks of a hook point.
  detail::RecordingOpenList<Hooks> hooks(oci::HookPoint point) {
    return open("hooks." + std::string{oci::hook_point_name(point)}, inner_.hooks(point));
  }
  /// `linux.netDevices`.
  auto net_devices() requires detail::HasNetDevices<Inner> {
    using Interfaces = detail::RecordingInterfaces<decltype(inner_.net_devices())>;
    return Interfaces{inner_.net_devices(), net_devices_};
  }
  /// Replaces `linux.intelRdt`.
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) requires detail::HasIntelRdt<Inner> {
    Change change{.kind = ChangeKind::replaced,
                  .part = "linux.intelRdt",
                  .after = detail::describe(settings).text};
    if constexpr (requires { inner_.intel_rdt(); }) {
      if (const auto old = inner_.intel_rdt()) {
        change.before = detail::text_of(*old, detail::rewrite_intel_rdt);
      } else {
        change.kind = ChangeKind::added;
      }
    }
    intel_rdt_.push_back(std::move(change));
    inner_.set_intel_rdt(settings);
  }

  /// Calls `process_user` of the target's editor.
  ProcessUser process_user() { return inner_.process_user(); }
  /// Calls `has_id_mappings` of the target's editor.
  bool has_id_mappings() { return inner_.has_id_mappings(); }

  /// Records the remaining changes and finishes the target's own edits.
  void finish() {
    end_list();
    detail::add_settings(std::move(net_devices_), changes_);
    detail::add_settings(std::move(intel_rdt_), changes_);
    if constexpr (requires { inner_.finish(); }) inner_.finish();
  }

 private:
  template <class List>
  detail::RecordingList<List> keyed(std::string_view part, List list, detail::Rewrite rewrite) {
    end_list();
    auto& changes = list_.emplace(part, list.size());
    return {std::move(list), changes, rewrite};
  }
  template <class List>
  detail::RecordingOpenList<List> open(std::string part, List list) {
    end_list();
    return {std::move(list), changes_, std::move(part)};
  }
  void end_list() {
    if (list_) list_->add_to(changes_);
    list_.reset();
  }

  Inner inner_;
  std::vector<Change>& changes_;
  std::optional<detail::ListChanges> list_{};
  std::vector<Change> net_devices_{};
  std::vector<Change> intel_rdt_{};
};

}  // namespace cdi

#endif  // CDI_PLAN_RECORDING_TARGET_HPP
