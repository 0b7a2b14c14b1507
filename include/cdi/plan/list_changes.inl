// The bodies of <cdi/plan/list_changes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_LIST_CHANGES_INL
#define CDI_PLAN_LIST_CHANGES_INL

#include <cdi/base/order.hpp>
#include <cdi/plan/list_changes.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE ListChanges::ListChanges(std::string_view part, std::size_t entries)
    : part_{part}, entries_{entries}, slots_(entries) {
  for (std::size_t i = 0; i < entries_; ++i) slots_[i].before = i;
}
CDI_INLINE ListChanges::~ListChanges() = default;

CDI_INLINE void ListChanges::assign(std::size_t i, std::string before, EntryText after) {
  slots_[i].old_text = std::move(before);
  slots_[i].entry = std::move(after);
  slots_[i].is_new = true;
}

CDI_INLINE void ListChanges::append(EntryText entry) {
  slots_.push_back({.entry = std::move(entry), .is_new = true});
}

CDI_INLINE std::vector<std::size_t> ListChanges::removed(std::span<const std::size_t> order) {
  rearranged_ = true;
  order_.assign(order.begin(), order.end());
  for (auto& slot : slots_) slot.stays = false;
  for (const std::size_t i : order_) slots_[i].stays = true;
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < entries_; ++i) {
    if (!slots_[i].stays) left_out.push_back(i);
  }
  return left_out;
}

CDI_INLINE void ListChanges::describe(std::size_t i, EntryText entry) {
  if (!slots_[i].is_new) slots_[i].entry = std::move(entry);
}

/// Pairs each appended entry with a removed entry of the same key, which the new one replaces.
CDI_INLINE void ListChanges::pair() {
  const auto is_before = [this](std::size_t a, std::size_t b) {
    return slots_[a].entry.key < slots_[b].entry.key;
  };
  std::vector<std::size_t> ends;  // the removed entries, then the appended ones
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i >= entries_ || !slots_[i].stays) ends.push_back(i);
  }
  const auto by_key = detail::order_of(
      ends.size(), [&](std::size_t a, std::size_t b) { return is_before(ends[a], ends[b]); });
  std::size_t next = 0;  // the first unpaired removed entry with this key
  for (const std::size_t at : by_key) {
    const std::size_t i = ends[at];
    while (next < by_key.size() && is_before(ends[by_key[next]], i)) ++next;
    const std::size_t old = ends[by_key[next]];
    if (i < entries_ || old >= entries_) continue;
    slots_[i].before = old;
    slots_[i].old_text = slots_[old].entry.text;
    ++next;
  }
}

/// Marks as few entries as possible as moved, so that all other old values keep their order.
CDI_INLINE void ListChanges::mark_moved() {
  std::vector<std::size_t> last;  // for each length of a run, the run that ends earliest
  std::vector<std::size_t> before(order_.size(), none);  // the previous place in the same run
  const auto old_at = [this](std::size_t place) {
    return slots_[order_[place]].before;
  };
  for (std::size_t place = 0; place < order_.size(); ++place) {
    if (old_at(place) == none || slots_[order_[place]].has_new_value()) continue;
    slots_[order_[place]].moves = true;
    const std::size_t shorter = detail::count_first(
        last.size(), [&](std::size_t i) { return old_at(last[i]) < old_at(place); });
    before[place] = shorter == 0 ? none : last[shorter - 1];
    if (shorter == last.size()) last.push_back(place);
    last[shorter] = place;
  }
  for (auto place = last.empty() ? none : last.back(); place != none; place = before[place]) {
    slots_[order_[place]].moves = false;
  }
}

CDI_INLINE std::vector<std::size_t> ListChanges::moved() {
  pair();
  mark_moved();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < entries_; ++i) {
    if (slots_[i].moves) out.push_back(i);
  }
  return out;
}

CDI_INLINE Change ListChanges::change_at(std::size_t place) const {
  const Slot& slot = slots_[order_[place]];
  Change change{.part = part_, .key = slot.entry.key, .after = slot.entry.text, .to = place};
  if (slot.before == none) return change;
  change.from = slot.before;
  change.before = slot.is_new ? slot.old_text : slot.entry.text;
  change.kind = slot.has_new_value() ? ChangeKind::replaced : ChangeKind::moved;
  return change;
}

CDI_INLINE void ListChanges::add_to(std::vector<Change>& changes) {
  for (std::size_t i = 0; !rearranged_ && i < slots_.size(); ++i) order_.push_back(i);
  std::vector<char> replaced(entries_);
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const Slot& slot = slots_[order_[place]];
    if (slot.before != none) replaced[slot.before] = true;
    if (slot.moves || slot.has_new_value()) changes.push_back(change_at(place));
  }
  for (std::size_t i = 0; i < entries_; ++i) {
    if (replaced[i]) continue;
    changes.push_back({.kind = ChangeKind::removed,
                       .part = part_,
                       .key = slots_[i].entry.key,
                       .before = slots_[i].entry.text,
                       .from = i});
  }
}

CDI_INLINE void add_settings(std::vector<Change>&& settings, std::vector<Change>& changes) {
  const auto first = detail::first_of_equals(settings.size(), [&](std::size_t a, std::size_t b) {
    return settings[a].key < settings[b].key;
  });
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (first[i] != i) settings[first[i]].after = std::move(settings[i].after);
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const bool same = !settings[i].before.empty() && settings[i].before == settings[i].after;
    if (first[i] == i && !same) changes.push_back(std::move(settings[i]));
  }
}

}  // namespace cdi::detail

#endif  // CDI_PLAN_LIST_CHANGES_INL
