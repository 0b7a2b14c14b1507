// How the lists of a target get new records: by key, or at the end unless they are there.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_LIST_EDITS_HPP
#define CDI_ENGINE_LIST_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/joined_edits.hpp>
#include <cdi/engine/list_plan.hpp>
#include <cdi/engine/spec_editor.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

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

// Of the entries with the key of a record, the one that is in effect in a container. If it equals
// the last new record of the key, the list has these edits already. A variable has none: it is
// always replaced.
inline std::size_t effective_entry(ListPlan& plan, std::size_t i, const NodeView&) {
  return plan.first_entry(i);
}
inline std::size_t effective_entry(ListPlan& plan, std::size_t i, const PlannedMount&) {
  return plan.last_entry(i);
}

/// Plans to keep the entries of each key whose effective one equals the last new record of the key.
/// Returns whether the list has an entry of the key of a record.
template <class List, class Record>
bool keep_equals(const List& list, const std::vector<Record>& records, RecordViews& views,
                 ListPlan& plan) {
  using View = std::remove_cvref_t<decltype(views.of(records[0]))>;
  bool is_known = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t at = effective_entry(plan, i, records[i]);
    if (at == ListPlan::none) continue;
    is_known = true;
    if constexpr (ComparableList<List, View>) {
      plan.keep_entries(i, list.equals(at, views.of(records[i])));
    }
  }
  return is_known;
}

/// Changes a list as `make_plan` plans it. Returns whether it may have had some of the records.
template <class List, class Record>
bool change(List list, const std::vector<Record>& records, RecordViews& views,
            void (*make_plan)(ListPlan& plan, std::size_t records)) {
  const std::size_t entries = list.size();
  ListPlan plan{entries, records.size()};
  for (std::size_t i = 0; i < entries; ++i) plan.entry_key(i, list.key(i));
  for (std::size_t i = 0; i < records.size(); ++i) plan.record_key(i, key_of(records[i]));
  plan.start();
  bool is_known = false;
  if constexpr (requires { effective_entry(plan, 0, records[0]); }) {
    if (!views.edits.duplicates) is_known = detail::keep_equals(list, records, views, plan);
  }
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
  return is_known;
}

/// Adds records to a list, unless an entry equals them that was there before the first was added.
/// Of many hundreds of records in a list of as many, the last are compared with one entry only:
/// 4000 hooks beside 4000 others would take 25 seconds.
class MissingRecords {
 public:
  static constexpr std::size_t max_comparisons = 100'000;

  template <class List, class Record>
  void add(List list, const Record& record) {
    if constexpr (ComparableList<List, Record>) {
      if (before_ == unknown) before_ = list.size();
      for (std::size_t i = 0; i < before_ && (i == 0 || compared_ < max_comparisons); ++i) {
        const std::size_t at = (next_ + i) % before_;
        ++compared_;
        if (!list.equals(at, record)) continue;
        next_ = at + 1;
        return;
      }
    }
    list.append(record);
  }

 private:
  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);

  std::size_t before_ = unknown;  // the number of entries before the first was added
  std::size_t next_ = 0;  // the entry to compare first: in a repeated injection, it is the same
  std::size_t compared_ = 0;
};

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

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/list_edits.inl>
#endif

#endif  // CDI_ENGINE_LIST_EDITS_HPP
