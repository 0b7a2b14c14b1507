// `ListChanges`: what `apply` changes in one list of an OCI spec, as a list of `Change`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_LIST_CHANGES_HPP
#define CDI_PLAN_LIST_CHANGES_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/plan/change.hpp>
#include <cdi/plan/entry_text.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Collects the changes to a list: first each new entry once, then at most one new order.
class ListChanges {
 public:
  /// Starts with a list of `entries` old entries.
  ListChanges(std::string_view part, std::size_t entries);
  ListChanges(const ListChanges&) = delete;
  ListChanges& operator=(const ListChanges&) = delete;
  ~ListChanges();

  /// Records that entry `i` gets another value; `before` is empty if the old value is unknown.
  void assign(std::size_t i, std::string before, EntryText after);
  void append(EntryText entry);

  /// Sets the new order, in the form of `ListMerge::order`, and returns the old entries that this
  /// order leaves out. Call `describe` for each of them before `moved`.
  std::vector<std::size_t> removed(std::span<const std::size_t> order);
  /// Returns the old entries that stay but move: `describe` each of them.
  std::vector<std::size_t> moved();
  /// Records the key and the text of an old entry.
  void describe(std::size_t i, EntryText entry);

  /// Appends the changes in the order of the new list, and then the removals. Call this last.
  void add_to(std::vector<Change>& changes);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// An entry of the list. The new entries follow the old ones.
  struct Slot {
    EntryText entry{};          // set for new entries and for changed old entries
    std::size_t before = none;  // the slot of the old entry that this entry replaces
    std::string old_text{};     // the old text of an assigned entry
    bool is_new = false;        // the entry received a new value
    bool stays = true;
    bool moves = false;

    bool has_new_value() const { return is_new && (old_text.empty() || old_text != entry.text); }
  };

  void pair();
  void mark_moved();
  Change change_at(std::size_t place) const;

  std::string part_;
  std::size_t entries_;      // the number of old entries
  std::vector<Slot> slots_;  // the old entries, then the new ones
  std::vector<std::size_t> order_{};
  bool rearranged_ = false;
};

/// Appends the changes to the properties of an object. Changes with equal keys become one, from the
/// first old value to the last new value.
void add_settings(std::vector<Change>&& settings, std::vector<Change>& changes);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/plan/list_changes.inl>
#endif

#endif  // CDI_PLAN_LIST_CHANGES_HPP
