// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_HPP
#define CDI_RULES_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The rules that a spec is to keep beyond its shape. Each has its row in `rules`.
enum class Rule : std::uint8_t {
  version_known,
  version_new_enough,
  field_retired,
  kind_name,
  kind_class_length,
  kind_vendor_dns,
  annotation_key,
  annotation_size,
  env_entry,
  node_path,
  node_path_absolute,
  node_type,
  node_permissions,
  net_names,
  net_names_unique,
  net_name_length,
  hook_name,
  hook_path,
  hook_path_absolute,
  hook_timeout_positive,
  mount_paths,
  mount_path_absolute,
  rdt_closid,
  gid_zero,
  devices_given,
  device_name,
  device_name_unique,
  device_name_length,
  device_edits,
  json_syntax,
};

/// What breaking a rule means.
enum class Severity : std::uint8_t {
  error,    // the spec cannot be used
  warning,  // the spec can be used, but what was meant is doubtful
};

/// A row of the table of rules.
struct RuleRow {
  Rule rule;
  std::string_view code;  // stable, for filters; in `Error::rule` when the rule is broken
  Severity severity;
  std::string_view demand;
  std::string_view source;  // who asks for it
};

/// Every rule. This table alone decides which is an error: those that the Go reference refuses too,
/// and those on annotations, which it means to refuse, but never looks at. An error takes all
/// devices of a file away, so what only some container would stumble over is a warning.
inline constexpr std::array<RuleRow, 30> rules{{
    {Rule::version_known, "version-known", Severity::error,
     "cdiVersion names a release of the CDI specification", "SPEC.md, Specification version"},
    {Rule::version_new_enough, "version-new-enough", Severity::error,
     "cdiVersion is not older than the newest member used", "SPEC.md, Released versions"},
    {Rule::field_retired, "field-retired", Severity::error,
     "no member is used that cdiVersion has no more", "SPEC.md, Released versions"},
    {Rule::kind_name, "kind-name", Severity::error,
     "kind is vendor/class; both are letters, digits and inner _ - ., and begin with a letter",
     "SPEC.md, Kind"},
    {Rule::kind_class_length, "kind-class-length", Severity::warning,
     "the class has at most 63 bytes", "SPEC.md, Kind"},
    {Rule::kind_vendor_dns, "kind-vendor-dns", Severity::warning,
     "the vendor is a DNS name: words of at most 63 letters, digits and inner -, 253 bytes in all",
     "SPEC.md, Kind"},
    {Rule::annotation_key, "annotation-key", Severity::error,
     "annotation keys are Kubernetes keys: name, or domain/name", "SPEC.md, Annotations"},
    {Rule::annotation_size, "annotation-size", Severity::error,
     "the annotations of a spec or device have at most 262144 bytes, keys and values together",
     "SPEC.md, Annotations"},
    {Rule::env_entry, "env-entry", Severity::error, "environment variables are NAME=value",
     "SPEC.md, OCI Edits"},
    {Rule::node_path, "node-path", Severity::error, "a device node has a path",
     "SPEC.md, OCI Edits"},
    {Rule::node_path_absolute, "node-path-absolute", Severity::warning,
     "paths of device nodes are absolute", "OCI config-linux.md, Devices"},
    {Rule::node_type, "node-type", Severity::error, "the type of a device node is b, c, u or p",
     "SPEC.md, OCI Edits"},
    {Rule::node_permissions, "node-permissions", Severity::error,
     "permissions are some of r, w and m, or none", "SPEC.md, OCI Edits"},
    {Rule::net_names, "net-names", Severity::error,
     "a net device has a name on the host and one in the container", "SPEC.md, OCI Edits"},
    {Rule::net_names_unique, "net-names-unique", Severity::error,
     "no two net devices of the same edits have one name", "the Go reference"},
    {Rule::net_name_length, "net-name-length", Severity::warning,
     "names of net devices are those that Linux takes: 1 to 15 bytes without slash, colon or space",
     "Linux, dev_valid_name"},
    {Rule::hook_name, "hook-name", Severity::error,
     "a hook runs at one of the six hook points of OCI", "SPEC.md, OCI Edits"},
    {Rule::hook_path, "hook-path", Severity::error, "a hook has a path", "SPEC.md, OCI Edits"},
    {Rule::hook_path_absolute, "hook-path-absolute", Severity::warning,
     "paths of hooks are absolute", "SPEC.md, OCI Edits"},
    {Rule::hook_timeout_positive, "hook-timeout-positive", Severity::warning,
     "timeouts of hooks are greater than 0", "SPEC.md, OCI Edits"},
    {Rule::mount_paths, "mount-paths", Severity::error,
     "a mount has a path on the host and one in the container", "SPEC.md, OCI Edits"},
    {Rule::mount_path_absolute, "mount-path-absolute", Severity::warning,
     "paths of mounts in the container are absolute", "OCI config.md, Mounts"},
    {Rule::rdt_closid, "rdt-closid", Severity::error,
     "closID names a directory below /sys/fs/resctrl, or is /", "OCI config-linux.md, IntelRdt"},
    {Rule::gid_zero, "gid-zero", Severity::warning,
     "additional group ids are not 0: 0 is left out at injection", "the Go reference"},
    {Rule::devices_given, "devices-given", Severity::error, "a spec has at least one device",
     "SPEC.md, CDI Devices"},
    {Rule::device_name, "device-name", Severity::error,
     "device names are letters, digits and inner _ - . :", "SPEC.md, CDI Devices"},
    {Rule::device_name_unique, "device-name-unique", Severity::error,
     "no two devices of a spec have one name", "SPEC.md, CDI Devices"},
    {Rule::device_name_length, "device-name-length", Severity::warning,
     "device names have at most 63 bytes", "Kubernetes names"},
    {Rule::device_edits, "device-edits", Severity::error, "a device has edits",
     "SPEC.md, CDI Devices"},
    {Rule::json_syntax, "json-syntax", Severity::warning, "a .json file is valid JSON", "RFC 8259"},
}};

static_assert(std::all_of(rules.begin(), rules.end(), [](const RuleRow& row) {
  return &rules[static_cast<std::size_t>(row.rule)] == &row;
}));

/// The most warnings that are given of one spec: more of them have one cause.
inline constexpr std::size_t most_warnings = 100;

/// The row of a rule.
constexpr const RuleRow& row_of(Rule rule) {
  return rules[static_cast<std::size_t>(rule)];
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_RULES_HPP
