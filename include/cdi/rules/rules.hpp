// The rules of the CDI specification: code, severity and meaning.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_RULES_HPP
#define CDI_RULES_RULES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The rules for the values in a spec. The table `rules` states each rule in full. A broken rule is
/// an error unless it is called a warning here.
enum class Rule : std::uint8_t {
  version_known,       ///< `cdiVersion` is accepted by `parse_spec_version`
  version_new_enough,  ///< `cdiVersion` covers every used member: see `minimum_need`
  /// Applies `version_new_enough` to host paths and mount types in all devices except the last;
  /// a warning to readers, because the Go reference reads such files.
  version_earlier_devices,
  field_retired,          ///< `cdiVersion` still defines every used member
  text_nul,               ///< no text contains a NUL
  kind_name,              ///< `kind` is accepted by `parse_kind`
  kind_class_length,      ///< the class is at most 63 bytes long; a warning
  kind_vendor_dns,        ///< the vendor is a DNS name; a warning
  annotation_key,         ///< each key passes `is_annotation_key`; a warning to readers
  annotation_size,        ///< annotations per spec or device: up to 256 KiB; a warning to readers
  env_entry,              ///< variables of containers and hooks are `NAME=value`
  env_name,               ///< variable names contain no blanks or quotes; a warning
  node_path,              ///< a device node specifies its path in the container
  node_path_absolute,     ///< the node's path begins with `/`; a warning
  node_type,              ///< a node's type is empty, b, c, u or p
  node_numbers,           ///< major and minor numbers are not negative
  node_number_size,       ///< Linux supports the node's numbers; a warning
  node_permissions,       ///< permissions are a subset of `rwm`, or `none`
  net_names,              ///< a net device specifies both names
  net_names_unique,       ///< no interface is moved twice, nor a name used twice, in the same edits
  net_name_length,        ///< Linux accepts both names; a warning
  hook_name,              ///< a hook's name is in `oci::hook_point_names`
  hook_path,              ///< a hook specifies its program
  hook_path_absolute,     ///< the program's path begins with `/`; a warning
  hook_timeout_positive,  ///< a timeout is at least 1 second; a warning
  mount_paths,            ///< a mount specifies both paths
  mount_path_absolute,    ///< the path in the container begins with `/`; a warning
  mount_bind,             ///< a mount is a bind mount or has a file system type; a warning
  rdt_closid,             ///< `closID` is empty, `/`, or valid as a directory name
  gid_zero,               ///< no additional group is 0, which would be ignored; a warning
  devices_given,          ///< a spec contains at least one device
  device_name,            ///< each name passes `is_device_name`
  device_name_unique,     ///< device names are unique
  device_name_length,     ///< each name is at most 63 bytes long; a warning
  device_edits,           ///< each device contains edits
  json_syntax,            ///< a `.json` file contains JSON, not YAML; a warning
  single_document,        ///< nothing follows the first YAML document; a warning
  member_case,            ///< member names have the same case as in SPEC.md; a warning
  portable_text,          ///< all engines read the text the same way; a warning
};

/// The consequence of a broken rule.
enum class Severity : std::uint8_t {
  error,  ///< the spec is unusable
  /// The spec is usable, with a warning to readers; `write_spec` rejects it.
  write_error,
  warning,  ///< the spec is usable, but probably wrong
};

/// The purpose of a validation.
enum class ValidateFor : std::uint8_t {
  reading,  ///< using the spec
  writing,  ///< writing it: a `Severity::write_error` is an error rather than a warning
};

/// A row of the table of rules.
struct RuleRow {
  Rule rule;                ///< the rule itself
  std::string_view code;    ///< stable, for filters; also in `Error::rule`
  Severity severity;        ///< the consequence of breaking the rule
  std::string_view demand;  ///< what the rule requires, for people
  std::string_view source;  ///< the document that states the rule, usually a section of SPEC.md
};

/// Every rule, in `Rule` order. This table alone decides which rules are errors: the rules that the
/// Go reference enforces, and `text_nul` and `node_numbers`, where a runtime would deviate from the
/// spec. An error disables all devices of a file, so problems that affect only some containers are
/// warnings; so is `portable_text`, for valid JSON or YAML that the reference cannot read. Rules
/// that the reference is meant to enforce, but does not, are errors for writers.
inline constexpr std::array<RuleRow, 39> rules{{
    {Rule::version_known, "version-known", Severity::error,
     "cdiVersion is a version of the CDI specification", "SPEC.md, Specification version"},
    {Rule::version_new_enough, "version-new-enough", Severity::error,
     "cdiVersion is not older than the newest member used", "SPEC.md, Released versions"},
    {Rule::version_earlier_devices, "version-earlier-devices", Severity::write_error,
     "cdiVersion defines the host paths and mount types of all devices except the last",
     "SPEC.md, Released versions"},
    {Rule::field_retired, "field-retired", Severity::error,
     "cdiVersion still defines every member used", "SPEC.md, Released versions"},
    {Rule::text_nul, "text-nul", Severity::error,
     "no text contains a NUL: some runtimes ignore what follows it, others reject it",
     "POSIX, Pathname"},
    {Rule::kind_name, "kind-name", Severity::error,
     "kind is vendor/class, each of letters, digits and inner _ - ., beginning with a letter",
     "SPEC.md, Kind"},
    {Rule::kind_class_length, "kind-class-length", Severity::warning,
     "the class is at most 63 bytes long", "SPEC.md, Kind"},
    {Rule::kind_vendor_dns, "kind-vendor-dns", Severity::warning,
     "the vendor is a DNS name: words of at most 63 letters, digits and inner -, 253 bytes in "
     "total",
     "SPEC.md, Kind"},
    {Rule::annotation_key, "annotation-key", Severity::write_error,
     "annotation keys are Kubernetes keys: name, or domain/name", "SPEC.md, Annotations"},
    {Rule::annotation_size, "annotation-size", Severity::write_error,
     "the annotations of a spec or device take at most 262144 bytes, including keys",
     "SPEC.md, Annotations"},
    {Rule::env_entry, "env-entry", Severity::error, "environment variables are NAME=value",
     "SPEC.md, OCI Edits"},
    {Rule::env_name, "env-name", Severity::warning,
     "names of environment variables contain no blanks or quotes", "POSIX, Environment Variables"},
    {Rule::node_path, "node-path", Severity::error, "a device node specifies a path",
     "SPEC.md, OCI Edits"},
    {Rule::node_path_absolute, "node-path-absolute", Severity::warning,
     "paths of device nodes are absolute", "OCI config-linux.md, Devices"},
    {Rule::node_type, "node-type", Severity::error, "the type of a device node is b, c, u or p",
     "SPEC.md, OCI Edits"},
    {Rule::node_numbers, "node-numbers", Severity::error,
     "device numbers are 0 or more: in a device cgroup, runc takes -1 for every number", "runc"},
    {Rule::node_number_size, "node-number-size", Severity::warning,
     "device numbers fit into 12 bits for the major and 20 bits for the minor number, as in Linux: "
     "runc ignores further bits and creates another node",
     "Linux, new_decode_dev"},
    {Rule::node_permissions, "node-permissions", Severity::error,
     "permissions are a combination of r, w and m, or none", "SPEC.md, OCI Edits"},
    {Rule::net_names, "net-names", Severity::error,
     "a net device specifies a name on the host and a name in the container", "SPEC.md, OCI Edits"},
    {Rule::net_names_unique, "net-names-unique", Severity::error,
     "no two net devices in the same edits share a name", "the Go reference"},
    {Rule::net_name_length, "net-name-length", Severity::warning,
     "names of net devices are valid in Linux: 1 to 15 bytes without slash, colon, space or byte "
     "A0",
     "Linux, dev_valid_name"},
    {Rule::hook_name, "hook-name", Severity::error,
     "a hook runs at one of the six hook points of OCI", "SPEC.md, OCI Edits"},
    {Rule::hook_path, "hook-path", Severity::error, "a hook specifies a path",
     "SPEC.md, OCI Edits"},
    {Rule::hook_path_absolute, "hook-path-absolute", Severity::warning,
     "paths of hooks are absolute", "SPEC.md, OCI Edits"},
    {Rule::hook_timeout_positive, "hook-timeout-positive", Severity::warning,
     "timeouts of hooks are greater than 0", "SPEC.md, OCI Edits"},
    {Rule::mount_paths, "mount-paths", Severity::error,
     "a mount specifies a path on the host and a path in the container", "SPEC.md, OCI Edits"},
    {Rule::mount_path_absolute, "mount-path-absolute", Severity::warning,
     "paths of mounts in the container are absolute", "OCI config.md, Mounts"},
    {Rule::mount_bind, "mount-bind", Severity::warning,
     "the options of a mount include bind or rbind, unless its type is a file system; otherwise, "
     "runc fails to mount it",
     "runc"},
    {Rule::rdt_closid, "rdt-closid", Severity::error,
     "closID names a directory under /sys/fs/resctrl, or is /", "OCI config-linux.md, IntelRdt"},
    {Rule::gid_zero, "gid-zero", Severity::warning,
     "additional group ids are not 0: 0 is ignored during injection", "the Go reference"},
    {Rule::devices_given, "devices-given", Severity::error, "a spec contains at least one device",
     "SPEC.md, CDI Devices"},
    {Rule::device_name, "device-name", Severity::error,
     "device names consist of letters, digits and inner _ - . :", "SPEC.md, CDI Devices"},
    {Rule::device_name_unique, "device-name-unique", Severity::error,
     "no two devices of a spec share a name", "SPEC.md, CDI Devices"},
    {Rule::device_name_length, "device-name-length", Severity::warning,
     "device names are at most 63 bytes long", "Kubernetes names"},
    {Rule::device_edits, "device-edits", Severity::error, "a device contains edits",
     "SPEC.md, CDI Devices"},
    {Rule::json_syntax, "json-syntax", Severity::warning, "a .json file is valid JSON", "RFC 8259"},
    {Rule::single_document, "single-document", Severity::warning,
     "a file contains one YAML document: nothing after it is read", "the Go reference"},
    {Rule::member_case, "member-case", Severity::warning,
     "member names have the case of the specification, as the Go reference requires since 1.1.1",
     "SPEC.md, CDI JSON Definition"},
    {Rule::portable_text, "portable-text", Severity::warning,
     "all releases of the Go library read a text the same way: it contains no %YAML 1.2, control "
     "characters such as U+0080, U+FEFF, line breaks such as U+2028, ? in brackets outside "
     "quotes, \\/, two \\u escapes for one character, tabs at the start of empty lines, line "
     "breaks between a key and its colon, JSON keys of more than 1024 characters, keys that << "
     "adds twice, the tag !, tags that do not match their value, text without quotes such as yes "
     "and 010, or booleans in quotes",
     "the Go reference"},
}};

static_assert([] {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (static_cast<std::size_t>(rules[i].rule) != i) return false;
  }
  return true;
}());

/// The maximum number of warnings per spec: any more would have the same cause.
inline constexpr std::size_t max_warnings = 100;

/// Returns the row of a rule in `rules`.
constexpr const RuleRow& row_of(Rule rule) {
  return rules[static_cast<std::size_t>(rule)];
}

}  // namespace cdi

#endif  // CDI_RULES_RULES_HPP
