// `find_overlaps`: the edits of a plan that affect the same thing, each pair with a code.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/plan/plan.hpp>

namespace tools {

/// What two edits, or two devices, have in common. `overlap_kinds` has a row for each kind.
enum class OverlapKind : std::uint8_t {
  device,          ///< the same device is listed twice
  all,             ///< the device `all` is listed with another device of its kind
  variable,        ///< two edits set the same variable
  node,            ///< two nodes have the same path
  host_node,       ///< two paths refer to the same host node
  mount,           ///< two mounts have the same destination
  host_interface,  ///< two edits move the same host interface
  intel_rdt,       ///< two edits set Intel RDT
};

/// A kind of overlap, with its code and meaning.
struct OverlapRow {
  OverlapKind kind;          ///< the kind
  std::string_view code;     ///< the stable code, for programs
  std::string_view meaning;  ///< the cause and the effect, for people
};

/// All kinds of overlap, in the order of `OverlapKind`.
inline constexpr std::array<OverlapRow, 8> overlap_kinds{{
    {OverlapKind::device, "same-device",
     "the device is listed twice, so its hooks and cgroup rules are added twice"},
    {OverlapKind::all, "all-with-other",
     "the device \"all\" is listed with another device of its kind, which it may include"},
    {OverlapKind::variable, "same-variable", "both set the variable; the second value wins"},
    {OverlapKind::node, "same-node", "both create a node at this path; the second node wins"},
    {OverlapKind::host_node, "same-host-node", "both paths are the same host device"},
    {OverlapKind::mount, "same-mount", "both mount to this path; the second mount wins"},
    {OverlapKind::host_interface, "same-host-interface", "both move this host interface"},
    {OverlapKind::intel_rdt, "same-intel-rdt", "both set Intel RDT; the second edit wins"},
}};

/// Returns the row of a kind in `overlap_kinds`.
constexpr const OverlapRow& row_of(OverlapKind kind) {
  return overlap_kinds[static_cast<std::size_t>(kind)];
}

/// Two edits, or two devices, that overlap.
struct Overlap {
  OverlapKind kind{};  ///< what the two have in common
  /// The name of a device, variable or host interface, a path, or the type and numbers of a host
  /// node.
  std::string key{};
  cdi::Origin first{};   ///< the edit that is applied first
  cdi::Origin second{};  ///< the edit that is applied next
  bool equal = false;    ///< whether the two edits are equal, so that their order does not matter

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// Describes the overlap on one line, escaped: `same-variable A: ORIGIN, ORIGIN: MEANING`.
std::string to_string(const Overlap& overlap);

/// Returns the overlapping edits of a plan, sorted by kind and key. When three edits share a key,
/// the second overlaps with the first, and the third with the second. Variables with equal values
/// do not overlap, nor do the edits of a device that is listed twice. Costs a sort of each list.
std::vector<Overlap> find_overlaps(const cdi::Plan& plan);

}  // namespace tools
