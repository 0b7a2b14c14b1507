// `Policy`: which devices may be injected, and what their edits may do; from JSON text.
// SPDX-License-Identifier: Apache-2.0

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

// In all lists of a policy: a list that is absent covers everything, and an empty one nothing. In a
// pattern of a name, `*` is any text. A pattern of a path is absolute, also covers what is below
// it, and `*` is any text without a slash. Paths are compared as `clean_path` makes them; links are
// not followed, and a list therefore never covers the path of an edit that has `..`.

namespace cdi {
inline namespace CDI_ABI {

/// A list of texts, or none.
using OptionalTexts = std::optional<std::vector<std::string>>;
/// A list of user or group ids, or none.
using OptionalIds = std::optional<std::vector<std::uint32_t>>;

/// What the edits of a device may do, by kind of edit.
struct EditLimits {
  OptionalTexts env{};  ///< patterns of the names of variables that may be set
  /// Patterns of the paths on the host of device nodes. The path does not decide which device it
  /// is where the edits also have its number: see `node_numbers`.
  OptionalTexts device_nodes{};
  std::optional<bool> node_numbers{};  ///< whether a node may have a number in the spec
  OptionalTexts net_devices{};         ///< patterns of the names of interfaces on the host
  OptionalTexts hooks{};               ///< patterns of the paths of the programs
  OptionalTexts hook_env{};            ///< patterns of the names of variables of hooks
  /// Patterns of the paths on the host: only new bind mounts, and no `remount`.
  OptionalTexts mounts{};
  OptionalTexts mount_options{};          ///< patterns of the options of mounts, such as `size=*`
  std::optional<bool> writable_mounts{};  ///< whether a mount may lack the option `ro`
  std::optional<bool> intel_rdt{};        ///< whether Intel RDT settings may be made
  OptionalIds additional_gids{};          ///< the groups that the process may get

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

/// A rule of a policy. It applies to a device that meets all its conditions, which are the members
/// from `devices` to `file_mode`. What is not known of a device, such as the owner of a spec that
/// was not read from a file, is against it: then a rule that allows does not apply, and a rule that
/// denies does.
struct PolicyRule {
  std::string name{};         ///< for the log; not empty, and unique; required
  bool allow = false;         ///< whether it allows the device, or denies it; required
  OptionalTexts devices{};    ///< patterns of qualified names, such as `vendor.com/gpu=*`
  OptionalTexts sources{};    ///< where the request comes from: see `request_origin_names`
  OptionalTexts files{};      ///< patterns of the paths of spec files, or of their directories
  OptionalIds file_owners{};  ///< users who may own the spec file
  OptionalIds file_groups{};  ///< groups that the spec file may have
  std::string file_mode{};    ///< the most permission bits of the spec file, octal: "0644"
  EditLimits edits{};         ///< of a rule that allows: a device with other edits is denied

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

/// The greatest number of rules of a policy. Each device may be compared with all of them.
inline constexpr std::size_t most_rules = 1000;
/// The greatest number of patterns with `*` in a list of a policy. Each text may be compared with
/// all of them; other patterns are looked up.
inline constexpr std::size_t most_wildcards = 1000;

/// Decides which devices may be injected. The first rule that applies to a device decides; later
/// ones do not matter. A device to which none applies is denied.
struct Policy {
  std::vector<PolicyRule> rules{};  ///< in order; required

  friend bool operator==(const Policy&, const Policy&) = default;

  /// The field list.
  static constexpr void fields(auto& list) { list("rules", &Policy::rules, required); }
};

/// The policy of a JSON text; `file` names it in messages. Errors have line and column. They are
/// those of `parse_json` and `read`, which refuses unknown members; those of `validate_policy`; and
/// `Errc::schema` for a name of a member in another case, and for a null, which could be taken for
/// an empty list.
Result<Policy> read_policy(std::string_view text, std::string_view file = {},
                           const Limits& limits = {});

/// Checks the values of a policy that was made by hand: names of rules, patterns, sources and
/// modes. `Errc::invalid` for the first that can never have an effect, or that is unclear;
/// `Errc::limit` for more than `most_rules` or `most_wildcards`. `where` is its path.
Result<void> validate_policy(const Policy& policy);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/policy/policy.inl>
#endif

#endif  // CDI_POLICY_POLICY_HPP
