// `ListMerge`: plans all changes to a keyed list, so that they can be checked before the first one.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_LIST_MERGE_HPP
#define CDI_APPLY_LIST_MERGE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Plans the changes to a list from the keys of its entries and of new records, without touching
/// the list. Refers to both only by index. Costs a sort of the keys.
class ListMerge {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Plans a list with this many entries and new records. Place each record at most once.
  ListMerge(std::size_t entries, std::size_t records);
  ListMerge(const ListMerge&) = delete;
  ListMerge& operator=(const ListMerge&) = delete;
  ~ListMerge();

  /// Sets the key of an entry. Call this before `start`.
  void entry_key(std::size_t i, std::string_view key);
  void entry_key(std::size_t i, std::uint32_t key);
  /// Sets the key of a record. Call this before `start`.
  void record_key(std::size_t i, std::string_view key);
  void record_key(std::size_t i, std::uint32_t key);

  /// Finds equal keys. Call this before any record is placed.
  void start();

  /// Returns the first entry with the record's key, or `none`. Call this before the first change.
  std::size_t first_entry(std::size_t i) { return group_of(i).first; }
  /// Returns the last entry with the record's key, or `none`. Call this before the first change.
  std::size_t last_entry(std::size_t i) { return group_of(i).last; }

  /// Returns whether no later record has the record's key.
  bool is_last_of_key(std::size_t i) { return group_of(i).last_record == i; }

  /// Sets whether the entries with the record's key stay unchanged, so that `merge_devices` and
  /// `merge_mounts` do not place the key's records.
  void keep_entries(std::size_t i, bool kept) { group_of(i).kept = kept; }
  bool keeps_entries(std::size_t i) { return group_of(i).kept; }

  /// Replaces the last entry with the record's key in place, or appends the record.
  void replace_last_or_append(std::size_t i);
  /// Replaces the first entry with the record's key in place, or appends the record.
  void replace_first_or_append(std::size_t i);
  void append(std::size_t i);

  bool has_key_of(std::size_t i);

  /// Removes the first entry with the record's key, if any.
  void remove_first(std::size_t i);

  /// Ends the plan. `by_depth` sorts the list by the depth of the keys, which are paths, and keeps
  /// the order of keys with equal depth.
  void finish(bool by_depth = false);

  /// Returns the planned list as indices into the old list; indices past its end stand for the
  /// appended records, in order.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Returns whether the order differs from the order of the entries.
  bool rearranged() const { return rearranged_; }
  /// Returns the record for `order()[i]`; `none` if the entry stays.
  std::size_t record(std::size_t i) const { return records_[i]; }

 private:
  struct Slot {  // one for each entry, then one for each record
    std::string_view key{};
    std::size_t rank = 0;       // compared before the key: its hash, a number or its depth
    std::size_t group = 0;      // the slot that stores this key's group
    std::size_t record = none;  // the record for this place
    std::size_t next = none;    // the next slot with this key in the planned list
    std::size_t first = none;   // the group's first slot
    std::size_t last = none;
    std::size_t last_record = none;  // the group's last record, placed or not
    bool there = false;
    bool kept = false;  // whether the group's entries stay unchanged
  };

  static void set_key(Slot& slot, std::string_view key);

  static bool is_before(const Slot& a, const Slot& b);

  Slot& group_of(std::size_t i);

  void put(std::size_t i, std::size_t at);

  void add(std::size_t at);

  std::size_t entries_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> order_;    // slots; after `finish`, as in `order`
  std::vector<std::size_t> records_;  // for sorting; after `finish`, as in `record`
  bool rearranged_ = false;
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/apply/list_merge.inl>
#endif

#endif  // CDI_APPLY_LIST_MERGE_HPP
