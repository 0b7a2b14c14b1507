// `Change`: one change that edits make to an OCI spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_CHANGE_HPP
#define CDI_PLAN_CHANGE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What happens to an entry of an OCI spec.
enum class ChangeKind : std::uint8_t {
  added,     ///< the entry is new
  replaced,  ///< the entry gets another value, and perhaps another index
  removed,   ///< dropped because one new entry replaces two with the same key
  moved,     ///< the entry stays, but moves relative to the others
};

/// The code of each kind, in the order of `ChangeKind`. Programs can rely on the codes.
inline constexpr std::array<std::string_view, 4> change_kind_names{"added", "replaced", "removed",
                                                                   "moved"};

/// Returns the code of a kind: an entry of `change_kind_names`.
constexpr std::string_view name_of(ChangeKind kind) {
  return change_kind_names[static_cast<std::size_t>(kind)];
}

/// A change to one entry of an OCI spec. Entries that keep their value, and their order relative to
/// other kept entries, are not listed.
///
/// The text of an entry is `NAME=value` for a variable, a number for a group, or JSON on one line
/// for any other entry.
struct Change {
  ChangeKind kind{};   ///< what happens
  std::string part{};  ///< the list or object with the entry, such as `process.env` or `mounts`
  /// A variable's name, a node's or hook's path, a mount's destination, a net device's host
  /// interface, a cgroup rule's type and numbers, or empty for `linux.intelRdt`.
  std::string key{};
  std::string before{};  ///< the old entry; empty if added, or if the target cannot tell
  std::string after{};   ///< the new entry; empty if removed
  std::optional<std::size_t> from{};  ///< the index in the old list; absent if added
  std::optional<std::size_t> to{};    ///< the index in the new list; absent if removed or unknown

  friend bool operator==(const Change&, const Change&) = default;
};

/// Describes the change on one line, escaped: `replaced process.env[3]: A=1 -> A=2`.
std::string to_string(const Change& change);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/change.inl>
#endif

#endif  // CDI_PLAN_CHANGE_HPP
