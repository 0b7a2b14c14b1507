// `Decision`: whether a policy allows a device, by which rule, and why not.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// Why a device is denied.
struct DenyReason {
  std::string message{};     ///< for people
  std::string member{};      ///< of the spec, such as `devices[0].containerEdits.hooks[1].path`;
                             ///< empty when the reason is not about one member
  std::uint32_t line = 0;    ///< of that member in its file, from 1; 0 when it is not known
  std::uint32_t column = 0;  ///< likewise

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

/// What a policy decides about one device of a request.
struct Decision {
  std::string device{};  ///< its qualified name
  bool allowed = false;  ///< whether it may be injected
  std::string rule{};    ///< the name of the rule that decides; empty when none applies
  std::string source{};  ///< where the request comes from: see `request_origin_names`
  std::string key{};     ///< of the annotation or variable of the request; else empty
  std::string file{};    ///< the path of the spec file
  std::vector<DenyReason> reasons{};  ///< at least one when it is denied; at most `most_warnings`

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

/// Decides about devices that `Registry::resolve_all` returned, all of one origin: one decision for
/// each, in their order. The limits of a rule hold for the edits of the device and for those of its
/// spec. Nothing is read or changed; the policy is one for `validate_policy`.
std::vector<Decision> decide(const Policy& policy, std::span<const ResolvedDevice> devices,
                             RequestOrigin origin);

/// Decides about devices of several origins. The request of a device is found by its name: the
/// devices may be in another order, or fewer, as those of `Registry::resolvable`. The second device
/// of one name has the second request of that name. A device without a request has no known origin:
/// only rules that deny count it to their `sources`.
std::vector<Decision> decide(const Policy& policy, std::span<const ResolvedDevice> devices,
                             std::span<const RequestedDevice> requested);

/// Success when all are allowed; else `Errc::refused` for the first that is denied, with the place
/// of its first reason, and how many more are denied.
Result<void> require_allowed(std::span<const Decision> decisions);

/// The decisions as a JSON log: an object with `allowed`, whether all are, and the list
/// `decisions`. Indented by `indent` spaces per level, or on one line when it is negative; without
/// a newline at the end. Bytes of file names that are not UTF-8 are escaped.
std::string write_decisions(std::span<const Decision> decisions, int indent = 2);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/policy/decision.inl>
#endif

#endif  // CDI_POLICY_DECISION_HPP
