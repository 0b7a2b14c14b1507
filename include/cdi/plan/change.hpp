// `Change`: one change that edits make to an OCI spec.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_CHANGE_HPP
#define CDI_PLAN_CHANGE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What happens to an entry of an OCI spec.
enum class ChangeKind : std::uint8_t {
  added,     ///< it is new
  replaced,  ///< it gets another value, and perhaps another place
  removed,   ///< one new entry replaces two of the same key, and this is the other one
  moved,     ///< it gets another place among the entries that stay
};

/// The codes of the kinds, in the order of `ChangeKind`: stable, for programs.
inline constexpr std::array<std::string_view, 4> change_kind_names{"added", "replaced", "removed",
                                                                   "moved"};

/// The code of a kind: an entry of `change_kind_names`.
constexpr std::string_view name_of(ChangeKind kind) {
  return change_kind_names[static_cast<std::size_t>(kind)];
}

/// A change of an entry of an OCI spec. An entry is not named when it stays as it is, and in order
/// among those that stay.
///
/// The text of an entry is `NAME=value` for a variable, a number for a group, and else JSON on one
/// line.
struct Change {
  ChangeKind kind{};   ///< what happens
  std::string part{};  ///< the list or object of the entry, such as `process.env` or `mounts`
  /// The name of a variable, the path of a node or hook, the destination of a mount, the host
  /// interface of a net device, type and numbers of a cgroup rule; empty for `linux.intelRdt`.
  std::string key{};
  std::string before{};  ///< the entry before, unless it is added; empty if the target cannot tell
  std::string after{};   ///< the entry afterwards, unless it is removed
  std::optional<std::size_t> from{};  ///< its index in the list before, unless it is added
  std::optional<std::size_t> to{};    ///< its index in the list afterwards, if that is known

  friend bool operator==(const Change&, const Change&) = default;
};

/// The change on one line: `replaced process.env[3]: A=1 -> A=2`. Text is escaped.
std::string to_string(const Change& change);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/change.inl>
#endif

#endif  // CDI_PLAN_CHANGE_HPP
