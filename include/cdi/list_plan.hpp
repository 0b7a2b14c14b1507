// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_LIST_PLAN_HPP
#define CDI_LIST_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/order.hpp>
#include <cdi/path.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// What a list is to become: worked out beside it, from the keys of its entries and of the records
/// that come. Knows both by their numbers only. Costs a sort of the keys, whatever they are.
class ListPlan {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// For a list of `entries`, and `records` that come, each of which has one turn at most.
  ListPlan(std::size_t entries, std::size_t records)
      : entries_{entries}, slots_(entries + records), order_(entries + records) {}

  /// Says the key of an entry; before `start`.
  void entry_key(std::size_t i, std::string_view key) { set_key(slots_[i], key); }
  void entry_key(std::size_t i, std::uint32_t key) { slots_[i].rank = key; }
  /// Says the key of a record; before `start`.
  void record_key(std::size_t i, std::string_view key) { set_key(slots_[entries_ + i], key); }
  void record_key(std::size_t i, std::uint32_t key) { slots_[entries_ + i].rank = key; }

  /// Finds equal keys. Comes before the turns of the records.
  void start() {
    const auto first = first_of_equals(slots_.size(), [this](std::size_t a, std::size_t b) {
      return is_before(slots_[a], slots_[b]);
    });
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].group = first[i];
    for (std::size_t i = 0; i < entries_; ++i) add(i);
  }

  /// The last entry of the record's key is replaced in its place; else the record is appended.
  void replace_last_or_append(std::size_t i) { put(i, group_of(i).last); }
  /// The first entry of the record's key is replaced in its place; else the record is appended.
  void replace_first_or_append(std::size_t i) { put(i, group_of(i).first); }
  void append(std::size_t i) { put(i, none); }

  bool has_key_of(std::size_t i) { return group_of(i).first != none; }

  /// Removes the first entry of the record's key, if there is one.
  void remove_first(std::size_t i) {
    Slot& group = group_of(i);
    if (group.first == none) return;
    Slot& first = slots_[group.first];
    first.there = false;
    group.first = first.next;
    if (group.first == none) group.last = none;
  }

  /// Ends the plan; `by_depth` sorts by the depth of the keys, which are paths, keeping the order
  /// of those of one depth.
  void finish(bool by_depth = false) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      order_[i] = i;
      if (by_depth) slots_[i].rank = path_depth(slots_[i].key);
    }
    if (by_depth) {
      order_ = order_of(slots_.size(), [this](std::size_t a, std::size_t b) {
        return slots_[a].rank < slots_[b].rank;
      });
    }
    std::erase_if(order_, [this](std::size_t slot) { return !slots_[slot].there; });
    records_.resize(order_.size());
    std::size_t end = entries_;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      records_[i] = slots_[order_[i]].record;
      if (order_[i] >= entries_) order_[i] = end++;
      rearranged_ = rearranged_ || order_[i] != i;
    }
    rearranged_ = rearranged_ || order_.size() != end;
  }

  /// What the list is to become, by index in it; beyond its entries are the records that are
  /// appended, in this order.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Whether it is another order than that in which the entries are.
  bool rearranged() const { return rearranged_; }
  /// The record to be put at `order()[i]`; `none` where the entry stays.
  std::size_t record(std::size_t i) const { return records_[i]; }

 private:
  struct Slot {  // of an entry; behind those, of a record
    std::string_view key{};
    std::size_t rank = 0;       // decides the order before the key does
    std::size_t group = 0;      // the slot that tells where those of this key are
    std::size_t record = none;  // what comes here
    std::size_t next = none;    // the next slot of the same key that is there
    std::size_t first = none;   // of the group
    std::size_t last = none;
    bool there = false;
  };

  static void set_key(Slot& slot, std::string_view key) {
    slot.key = key;
    slot.rank = std::hash<std::string_view>{}(key);
  }

  static bool is_before(const Slot& a, const Slot& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.key < b.key;
  }

  Slot& group_of(std::size_t i) { return slots_[slots_[entries_ + i].group]; }

  void put(std::size_t i, std::size_t at) {
    if (at == none) add(at = entries_ + i);
    slots_[at].record = i;
  }

  void add(std::size_t at) {
    Slot& group = slots_[slots_[at].group];
    slots_[at].there = true;
    (group.first == none ? group.first : slots_[group.last].next) = at;
    group.last = at;
  }

  std::size_t entries_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> order_;  // slots; in the end, indices in the list
  std::vector<std::size_t> records_{};
  bool rearranged_ = false;
};

}  // namespace cdi::inline CDI_ABI::detail

#endif  // CDI_LIST_PLAN_HPP
