// Adds new records to the lists of a target: by key, or at the end unless already present.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_LIST_EDITS_HPP
#define CDI_APPLY_LIST_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/joined_edits.hpp>
#include <cdi/apply/list_merge.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns the `NAME` of `NAME=value`, or the whole entry if it has no `=`.
inline std::string_view env_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// Returns the key of a new record.
inline std::string_view key_of(std::string_view entry) {
  return env_name(entry);
}
inline std::string_view key_of(const NodeView& node) {
  return node.path;
}
inline std::string_view key_of(const PlannedMount& mount) {
  return mount.destination;
}

/// Provides the views of new records that a list receives. A view is valid until the next call.
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

/// Reserves memory for additional records if the list supports it.
template <class List>
void make_room(List& list, std::size_t records) {
  if constexpr (requires { list.reserve(records); }) list.reserve(list.size() + records);
}

/// Replaces the last variable of the same name with each new variable, or appends it.
void merge_env(ListMerge& merge, std::size_t records);

/// For each new node, removes the first node with the same path; the new node then replaces the
/// next such node, or is appended if there is none.
void merge_devices(ListMerge& merge, std::size_t records);

/// Appends each mount and removes the first with the same destination; then sorts all by depth.
void merge_mounts(ListMerge& merge, std::size_t records);

// Returns the entry with a record's key that takes effect in a container. If this entry equals the
// last new record with the key, the list already contains these edits. Variables need no such
// function: they are always replaced.
inline std::size_t effective_entry(ListMerge& merge, std::size_t i, const NodeView&) {
  return merge.first_entry(i);
}
inline std::size_t effective_entry(ListMerge& merge, std::size_t i, const PlannedMount&) {
  return merge.last_entry(i);
}

/// Plans to keep the entries of each key whose effective entry equals the key's last new record,
/// the only one that is compared. Returns whether the list contains any record's key.
template <class List, class Record>
bool keep_equals(const List& list, const std::vector<Record>& records, RecordViews& views,
                 ListMerge& merge) {
  using View = std::remove_cvref_t<decltype(views.of(records[0]))>;
  bool is_known = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t at = effective_entry(merge, i, records[i]);
    if (at == ListMerge::none) continue;
    is_known = true;
    if constexpr (ComparableList<List, View>) {
      if (!merge.is_last_of_key(i)) continue;
      merge.keep_entries(i, list.equals(at, views.of(records[i])));
    }
  }
  return is_known;
}

/// Changes a list as `place_records` plans. Returns whether the list may have contained records.
template <class List, class Record>
bool merge_records(List list, const std::vector<Record>& records, RecordViews& views,
                   void (*place_records)(ListMerge& merge, std::size_t records)) {
  const std::size_t entries = list.size();
  ListMerge merge{entries, records.size()};
  for (std::size_t i = 0; i < entries; ++i) merge.entry_key(i, list.key(i));
  for (std::size_t i = 0; i < records.size(); ++i) merge.record_key(i, key_of(records[i]));
  merge.start();
  bool is_known = false;
  if constexpr (requires { effective_entry(merge, 0, records[0]); }) {
    if (!views.edits.duplicates) is_known = detail::keep_equals(list, records, views, merge);
  }
  place_records(merge, records.size());
  detail::make_room(list, records.size());
  for (std::size_t i = 0; i < merge.order().size(); ++i) {
    if (merge.record(i) == ListMerge::none) continue;
    const auto& record = views.of(records[merge.record(i)]);
    const std::size_t at = merge.order()[i];
    if (at < entries) {
      list.assign(at, record);
    } else {
      list.append(record);
    }
  }
  if (merge.rearranged()) list.rearrange(merge.order());
  return is_known;
}

/// Adds records to a list unless an equal entry was there before the first addition. After
/// `max_comparisons`, records are compared with only one entry: without this limit, adding 4000
/// hooks to a list of 4000 others would take 25 seconds.
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

  std::size_t before_ = unknown;  // the number of entries before the first addition
  std::size_t next_ = 0;          // the entry to compare first: equal in a repeated injection
  std::size_t compared_ = 0;
};

/// Adds the missing groups.
template <class List>
void add_gids(List list, const std::vector<std::uint32_t>& gids) {
  ListMerge merge{list.size(), gids.size()};
  for (std::size_t i = 0; i < list.size(); ++i) merge.entry_key(i, list.id(i));
  for (std::size_t i = 0; i < gids.size(); ++i) merge.record_key(i, gids[i]);
  merge.start();
  for (std::size_t i = 0; i < gids.size(); ++i) {
    if (merge.has_key_of(i)) continue;
    merge.append(i);
    list.append(gids[i]);
  }
}

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/apply/list_edits.inl>
#endif

#endif  // CDI_APPLY_LIST_EDITS_HPP
