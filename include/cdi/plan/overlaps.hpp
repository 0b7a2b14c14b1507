// `find_overlaps`: edits of a plan that concern the same thing, each with a code.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_OVERLAPS_HPP
#define CDI_PLAN_OVERLAPS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/plan/plan.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What two edits, or two devices, have in common; `overlap_kinds` has a row for each.
enum class OverlapKind : std::uint8_t {
  device,          ///< a device is named twice
  all,             ///< the device `all` is named with another one of its kind
  variable,        ///< two values of a variable
  node,            ///< two nodes with a path
  host_node,       ///< two paths of a node of the host
  mount,           ///< two mounts with a destination
  host_interface,  ///< a host interface is moved twice
  interface,       ///< two net devices with a name in the container
  intel_rdt,       ///< two settings of Intel RDT
};

/// What is known of a kind of overlap.
struct OverlapRow {
  OverlapKind kind;          ///< which one
  std::string_view code;     ///< stable: for programs
  std::string_view meaning;  ///< what it is and does, for people
};

/// Every kind of overlap, in the order of `OverlapKind`.
inline constexpr std::array<OverlapRow, 9> overlap_kinds{{
    {OverlapKind::device, "same-device",
     "the device is named twice, so that its hooks and cgroup rules are added twice"},
    {OverlapKind::all, "all-with-other",
     "the device \"all\" is named with another one of its kind, which it may contain"},
    {OverlapKind::variable, "same-variable", "both set the variable; the second value counts"},
    {OverlapKind::node, "same-node", "both make a node of this path; the second one counts"},
    {OverlapKind::host_node, "same-host-node", "both paths are the same device of the host"},
    {OverlapKind::mount, "same-mount", "both mount to this path; the second one counts"},
    {OverlapKind::host_interface, "same-host-interface",
     "both move this interface of the host; the second one counts"},
    {OverlapKind::interface, "same-interface",
     "two interfaces of the host get this name, which the runtime refuses"},
    {OverlapKind::intel_rdt, "same-intel-rdt", "both set Intel RDT; the second one counts"},
}};

/// The row of a kind in `overlap_kinds`.
constexpr const OverlapRow& row_of(OverlapKind kind) {
  return overlap_kinds[static_cast<std::size_t>(kind)];
}

/// Two edits, or two devices, that overlap.
struct Overlap {
  OverlapKind kind{};  ///< what they have in common
  /// The name of a device, variable or interface, a path, or type and numbers of a node of the
  /// host.
  std::string key{};
  Origin first{};      ///< the one that is applied first
  Origin second{};     ///< the next one
  bool equal = false;  ///< whether both edits are the same, so that their order does not matter

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// The overlap on one line: `same-variable A: ORIGIN, ORIGIN: MEANING`. Text is escaped.
std::string to_string(const Overlap& overlap);

/// The overlaps of the edits of a plan, kind by kind, in the order of their keys. Of three edits
/// with one key, the second overlaps with the first, and the third with the second. Variables with
/// equal values do not overlap, nor do the edits of a device that is named twice. Costs a sort of
/// each list.
std::vector<Overlap> find_overlaps(const Plan& plan);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/overlaps.inl>
#endif

#endif  // CDI_PLAN_OVERLAPS_HPP
