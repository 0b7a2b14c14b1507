// The bodies of <cdi/apply/list_merge.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_LIST_MERGE_INL
#define CDI_APPLY_LIST_MERGE_INL

#include <cdi/apply/list_merge.hpp>
#include <cdi/base/order.hpp>
#include <cdi/base/path.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE ListMerge::ListMerge(std::size_t entries, std::size_t records)
    : entries_{entries},
      slots_(entries + records),
      order_(entries + records),
      records_(entries + records) {}
CDI_INLINE ListMerge::~ListMerge() = default;

CDI_INLINE void ListMerge::entry_key(std::size_t i, std::string_view key) {
  set_key(slots_[i], key);
}
CDI_INLINE void ListMerge::entry_key(std::size_t i, std::uint32_t key) {
  slots_[i].rank = key;
}
CDI_INLINE void ListMerge::record_key(std::size_t i, std::string_view key) {
  set_key(slots_[entries_ + i], key);
}
CDI_INLINE void ListMerge::record_key(std::size_t i, std::uint32_t key) {
  slots_[entries_ + i].rank = key;
}

CDI_INLINE void ListMerge::start() {
  for (std::size_t i = 0; i < slots_.size(); ++i) order_[i] = i;
  detail::sort(order_, records_,
               [this](std::size_t a, std::size_t b) { return is_before(slots_[a], slots_[b]); });
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const bool same = i > 0 && !is_before(slots_[order_[i - 1]], slots_[order_[i]]);
    slots_[order_[i]].group = same ? slots_[order_[i - 1]].group : order_[i];
  }
  for (std::size_t i = 0; i < entries_; ++i) add(i);
  for (std::size_t i = 0; i + entries_ < slots_.size(); ++i) group_of(i).last_record = i;
}

CDI_INLINE void ListMerge::replace_last_or_append(std::size_t i) {
  put(i, group_of(i).last);
}

CDI_INLINE void ListMerge::replace_first_or_append(std::size_t i) {
  put(i, group_of(i).first);
}

CDI_INLINE void ListMerge::append(std::size_t i) {
  put(i, none);
}

CDI_INLINE bool ListMerge::has_key_of(std::size_t i) {
  return group_of(i).first != none;
}

CDI_INLINE void ListMerge::remove_first(std::size_t i) {
  Slot& group = group_of(i);
  if (group.first == none) return;
  Slot& first = slots_[group.first];
  first.there = false;
  group.first = first.next;
  if (group.first == none) group.last = none;
}

CDI_INLINE void ListMerge::finish(bool by_depth) {
  order_.clear();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].there) continue;
    order_.push_back(i);
    if (by_depth) slots_[i].rank = path_depth(slots_[i].key);
  }
  records_.resize(order_.size());
  if (by_depth) {
    detail::sort(order_, records_,
                 [this](std::size_t a, std::size_t b) { return slots_[a].rank < slots_[b].rank; });
  }
  std::size_t end = entries_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    records_[i] = slots_[order_[i]].record;
    if (order_[i] >= entries_) order_[i] = end++;
    rearranged_ = rearranged_ || order_[i] != i;
  }
  rearranged_ = rearranged_ || order_.size() != end;
}

CDI_INLINE void ListMerge::set_key(Slot& slot, std::string_view key) {
  slot.key = key;
  slot.rank = std::hash<std::string_view>{}(key);
}

CDI_INLINE bool ListMerge::is_before(const Slot& a, const Slot& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.key < b.key;
}

CDI_INLINE void ListMerge::put(std::size_t i, std::size_t at) {
  if (at == none) add(at = entries_ + i);
  slots_[at].record = i;
}

CDI_INLINE void ListMerge::add(std::size_t at) {
  Slot& group = slots_[slots_[at].group];
  slots_[at].there = true;
  (group.first == none ? group.first : slots_[group.last].next) = at;
  group.last = at;
}

CDI_INLINE ListMerge::Slot& ListMerge::group_of(std::size_t i) {
  return slots_[slots_[entries_ + i].group];
}

}  // namespace cdi::detail

#endif  // CDI_APPLY_LIST_MERGE_INL
