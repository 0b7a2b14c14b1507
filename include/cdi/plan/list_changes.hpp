// `ListChanges`: what the engine does to one list of an OCI spec, as `Change`s.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The changes of a list. New entries come first, each once; then at most one new order.
class ListChanges {
 public:
  /// A list of so many entries.
  ListChanges(std::string_view part, std::size_t entries);
  ListChanges(const ListChanges&) = delete;
  ListChanges& operator=(const ListChanges&) = delete;
  ~ListChanges();

  /// An entry gets another value in its place; `before` is empty if it is not known.
  void assign(std::size_t i, std::string before, EntryText after);
  void append(EntryText entry);

  /// Sets the order of the entries, as `ListPlan::order` has it. Returns the old entries that it
  /// leaves out: `describe` each, before `moved` is called.
  std::vector<std::size_t> removed(std::span<const std::size_t> order);
  /// The old entries with another place among those that stay: `describe` each.
  std::vector<std::size_t> moved();
  /// Gives the key and the text of an old entry.
  void describe(std::size_t i, EntryText entry);

  /// Adds the changes, in the order of the new list; then the removed entries. Once, in the end.
  void add_to(std::vector<Change>& changes);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// An entry of the list: an old one, or behind those a new one.
  struct Slot {
    EntryText entry{};          // of an old one, only if it changes
    std::size_t before = none;  // the slot of the old entry that it was
    std::string old_text{};     // of an entry that was assigned
    bool is_new = false;        // it has a new value
    bool stays = true;
    bool moves = false;

    bool has_new_value() const { return is_new && (old_text.empty() || old_text != entry.text); }
  };

  void pair();
  void mark_moved();
  Change change_at(std::size_t place) const;

  std::string part_;
  std::size_t entries_;      // the old ones
  std::vector<Slot> slots_;  // all entries, old and new
  std::vector<std::size_t> order_{};
  bool rearranged_ = false;
};

/// Adds changes of the members of an object: of those with one key, the first has the value before,
/// and the last the value afterwards.
void add_settings(std::vector<Change>&& settings, std::vector<Change>& changes);

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/list_changes.inl>
#endif

#endif  // CDI_PLAN_LIST_CHANGES_HPP
