// `Policy`: which devices may be injected, and what their edits may do. It can be read from JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_POLICY_HPP
#define CDI_POLICY_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

// In a policy, an absent list covers everything, and an empty list nothing. In a pattern for names,
// `*` stands for any text. A pattern for paths is absolute, also covers everything inside a
// directory, and `*` stands for any text without a slash. Paths are compared as cleaned by
// `clean_path`, without following links, so a list never covers an edit whose path contains `..`.

namespace cdi::inline CDI_ABI {

/// A list of texts, which may be absent.
using OptionalTexts = std::optional<std::vector<std::string>>;
/// A list of user or group ids, which may be absent.
using OptionalIds = std::optional<std::vector<std::uint32_t>>;

/// What the edits of a device may do, by kind of edit.
struct EditLimits {
  OptionalTexts env{};  ///< patterns for the names of variables
  /// Patterns for the host paths of device nodes. If the edits also specify the number of a node,
  /// the number decides which device the node is, not the path: see `node_numbers`.
  OptionalTexts device_nodes{};
  std::optional<bool> node_numbers{};  ///< whether a spec may set a node's number
  OptionalTexts net_devices{};         ///< patterns for interface names on the host
  OptionalTexts hooks{};               ///< patterns for the paths of the programs
  OptionalTexts hook_env{};            ///< patterns for the names of hook variables
  /// Patterns for host paths; they allow only new bind mounts, and no `remount`.
  OptionalTexts mounts{};
  OptionalTexts mount_options{};          ///< patterns for mount options, such as `size=*`
  std::optional<bool> writable_mounts{};  ///< whether a mount may lack the option `ro`
  std::optional<bool> intel_rdt{};        ///< whether Intel RDT settings are allowed
  OptionalIds additional_gids{};          ///< the groups that the process may join

  friend bool operator==(const EditLimits&, const EditLimits&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = EditLimits;
    list("env", &Self::env);
    list("deviceNodes", &Self::device_nodes);
    list("nodeNumbers", &Self::node_numbers);
    list("netDevices", &Self::net_devices);
    list("hooks", &Self::hooks);
    list("hookEnv", &Self::hook_env);
    list("mounts", &Self::mounts);
    list("mountOptions", &Self::mount_options);
    list("writableMounts", &Self::writable_mounts);
    list("intelRdt", &Self::intel_rdt);
    list("additionalGids", &Self::additional_gids);
  }
};

/// A rule of a policy. The rule applies to a device that meets all conditions, which are the
/// members from `devices` to `file_mode`. Unknown facts, such as the owner of a spec that was not
/// read from a file, count against a device: a rule that allows does not apply, and a rule that
/// denies does.
struct PolicyRule {
  std::string name{};         ///< for the log; unique and not empty; required
  bool allow = false;         ///< whether the rule allows or denies the device; required
  OptionalTexts devices{};    ///< patterns for qualified names, such as `vendor.com/gpu=*`
  OptionalTexts sources{};    ///< where the request comes from: see `request_origin_names`
  OptionalTexts files{};      ///< patterns for the paths of spec files or their directories
  OptionalIds file_owners{};  ///< users who may own the spec file
  OptionalIds file_groups{};  ///< groups that may own the spec file
  std::string file_mode{};    ///< the permission bits that the spec file may have: "0644"
  EditLimits edits{};         ///< allowed edits if `allow` is true; others are denied

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = PolicyRule;
    list("name", &Self::name, required);
    list("allow", &Self::allow, required);
    list("devices", &Self::devices);
    list("sources", &Self::sources);
    list("files", &Self::files);
    list("fileOwners", &Self::file_owners);
    list("fileGroups", &Self::file_groups);
    list("fileMode", &Self::file_mode);
    list("edits", &Self::edits);
  }
};

/// The maximum number of rules in a policy. Each device may be compared with all rules.
inline constexpr std::size_t max_rules = 1000;
/// The maximum number of patterns with `*` in one list. Each text may be compared with all of these
/// patterns; other patterns are looked up.
inline constexpr std::size_t max_wildcards = 1000;

/// Decides which devices may be injected. The first rule that applies to a device decides, and
/// later rules do not matter. A device is denied when no rule applies.
struct Policy {
  std::vector<PolicyRule> rules{};  ///< in order; required

  friend bool operator==(const Policy&, const Policy&) = default;

  /// The field list.
  static constexpr void fields(auto& list) { list("rules", &Policy::rules, required); }
};

/// Reads a policy from JSON text; `file` is its name in messages. Fails with the errors of
/// `parse_json`, `read` (which rejects unknown members) and `validate_policy`, and with
/// `Errc::schema` for a member name in another case or a null, which could be mistaken for an empty
/// list. All errors have a line and column.
Result<Policy> read_policy(std::string_view text, std::string_view file = {},
                           const Limits& limits = {});

/// Checks the values of a policy made in code: rule names, patterns, sources and modes. Fails with
/// `Errc::invalid` for the first value that is unclear or can have no effect, with its path in
/// `where`, and with `Errc::limit` beyond `max_rules` or `max_wildcards`.
Result<void> validate_policy(const Policy& policy);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/policy/policy.inl>
#endif

#endif  // CDI_POLICY_POLICY_HPP
