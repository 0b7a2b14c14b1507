// `Decision`: whether a policy allows a device, by which rule, and why not.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_DECISION_HPP
#define CDI_POLICY_DECISION_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/policy/policy.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A reason why a device is denied.
struct DenyReason {
  std::string message{};     ///< the reason, for people
  std::string member{};      ///< a path such as `devices[0].containerEdits.hooks[1].path`;
                             ///< empty when the reason is not about one member
  std::uint32_t line = 0;    ///< the line of the member, from 1; 0 if unknown
  std::uint32_t column = 0;  ///< the column of the member, from 1; 0 if unknown

  friend bool operator==(const DenyReason&, const DenyReason&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = DenyReason;
    list("message", &Self::message);
    list("member", &Self::member);
    list("line", &Self::line);
    list("column", &Self::column);
  }
};

/// A policy's decision about one device of a request.
struct Decision {
  std::string device{};  ///< the qualified name of the device
  bool allowed = false;  ///< whether the device may be injected
  std::string rule{};    ///< the name of the rule that decides; empty when no rule applies
  std::string source{};  ///< where the request comes from: see `request_origin_names`
  std::string key{};     ///< the annotation or variable with the request; may be empty
  std::string file{};    ///< the path of the spec file
  std::vector<DenyReason> reasons{};  ///< from one to `max_warnings` if denied

  friend bool operator==(const Decision&, const Decision&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = Decision;
    list("device", &Self::device, Presence::keep_empty);
    list("allowed", &Self::allowed, Presence::keep_empty);
    list("rule", &Self::rule);
    list("source", &Self::source);
    list("key", &Self::key);
    list("file", &Self::file);
    list("reasons", &Self::reasons);
  }
};

/// Returns one decision for each device, in the order of the devices. All devices must come from
/// `Registry::resolve_all` and have one origin. The limits of a rule apply to the edits of the
/// device and of its spec. The policy must pass `validate_policy`; nothing is read or changed.
std::vector<Decision> decide(const Policy& policy, std::span<const ResolvedDevice> devices,
                             RequestOrigin origin);

/// Returns the decisions about devices of several origins. Each device is matched to its request by
/// name, so that the devices may be fewer or in another order, as with `Registry::resolvable`. The
/// second device with a name belongs to the second request for that name. A device without a
/// request has an unknown origin, which only matches the `sources` of rules that deny.
std::vector<Decision> decide(const Policy& policy, std::span<const ResolvedDevice> devices,
                             std::span<const RequestedDevice> requested);

/// Succeeds if all devices are allowed. Otherwise, fails with `Errc::denied` and names the first
/// denied device, the place of its first reason, and how many more devices are denied.
Result<void> require_allowed(std::span<const Decision> decisions);

/// Returns the decisions as a JSON log: an object with the list `decisions`, and `allowed`, which
/// is true if every device is allowed. `indent` is the number of spaces per level; a negative value
/// puts all on one line. The log has no final newline. File names that are not UTF-8 are escaped.
std::string write_decisions(std::span<const Decision> decisions, int indent = 2);

namespace detail {

/// The decisions with texts that are not UTF-8 escaped.
std::vector<Decision> readable_decisions(std::span<const Decision> decisions);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/policy/decision.inl>
#endif

#endif  // CDI_POLICY_DECISION_HPP
