// Prints a JSON schema, draft 2020-12, of the field lists and of the rules that are errors:
//
//   generate-schema cdi         a spec file, with the members of the current version
//   generate-schema oci-edits   an empty OCI config after edits of such specs
//   generate-schema policy      a policy
//   generate-schema resolved    what cdi resolve -o json prints
//   generate-schema shown       what cdi show -o json prints
//   generate-schema results     what the commands of the tools print with -o json
//
// The schemas are for writers: they do not allow null or field names in another case, which readers
// accept.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/oci/hooks.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/policy.hpp>
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>

#include "results.hpp"
#include "schema.hpp"

namespace {

using cdi::Rule;
// Keywords of JSON schema for what rules require of members.

Json not_empty_text() {
  return {{"minLength", 1}};
}
Json not_empty_list() {
  return {{"minItems", 1}};
}
Json at_most(std::size_t items) {
  return {{"maxItems", items}};
}
Json each_item(Json words) {
  return {{"items", std::move(words)}};
}
Json each_key(Json words) {
  return {{"propertyNames", std::move(words)}};
}

Json matching(std::string_view pattern) {
  return {{"pattern", pattern}};
}

/// Texts that match as a whole. In some validators, `$` also matches before a final newline.
Json all_matching(const std::string& pattern) {
  return {{"pattern", "^(" + pattern + ")$"}, {"not", matching("\\n")}};
}

/// Letters and digits, and `extra` except at the beginning and the end: see `detail::is_word`.
std::string word(const std::string& first, const std::string& extra) {
  return first + "([A-Za-z0-9" + extra + "]*[A-Za-z0-9])?";
}

Json a_variable() {
  return matching("^[^=]+=");
}

Json a_spec_version() {
  std::vector<std::string> names;
  for (const std::string mark : {"", "v"}) {
    for (const cdi::SpecVersion version : cdi::spec_versions)
      names.push_back(mark + to_string(version));
  }
  return one_of(names);
}

Json a_kind() {
  const std::string name = word("[A-Za-z]", "_.-");
  return all_matching(name + "/" + name);
}

/// See `is_annotation_key`: at most 253 characters before the slash and 63 after it.
Json an_annotation_key() {
  const std::string label = word("[A-Za-z0-9]", "-");
  Json words = all_matching("(" + label + "(\\." + label +
                            ")*/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");
  words["not"] = matching("\\n|^[^/]{254}");
  return words;
}

/// The rule counts bytes, and a schema counts characters, of which there are never more.
Json a_closid() {
  const Json root{{"const", "/"}};
  const Json folder{{"maxLength", 4095}, {"not", matching(R"(^\.\.?$|[/\n])")}};
  return {{"anyOf", {root, folder}}};
}

/// At least one member is not empty: see `is_empty`.
template <cdi::Described T>
Json not_all_empty() {
  Json ways = Json::array();
  cdi::every_field<T>([&](const auto& field) {
    using Member = typename std::remove_cvref_t<decltype(field)>::value_type;
    static_assert(cdi::detail::List<Member> || cdi::detail::Optional<Member>);
    const std::string key{field.key};
    Json way{{"required", Json::array({key})}};
    if (cdi::detail::List<Member>) way["properties"][key] = not_empty_list();
    if (field.lifetime.has(cdi::current_version)) ways.push_back(std::move(way));
    return true;
  });
  return {{"anyOf", std::move(ways)}};
}

std::vector<Demand> cdi_demands() {
  return {
      {"Spec", "cdiVersion", Rule::version_known, a_spec_version()},
      {"Spec", "kind", Rule::kind_name, a_kind()},
      {"Spec", "annotations", Rule::annotation_key, each_key(an_annotation_key())},
      {"Spec", "devices", Rule::devices_given, not_empty_list()},
      {"Device", "name", Rule::device_name, all_matching(word("[A-Za-z0-9]", "_.:-"))},
      {"Device", "annotations", Rule::annotation_key, each_key(an_annotation_key())},
      {"Device", "containerEdits", Rule::device_edits, not_all_empty<cdi::ContainerEdits>()},
      {"ContainerEdits", "env", Rule::env_entry, each_item(a_variable())},
      {"DeviceNode", "path", Rule::node_path, not_empty_text()},
      {"DeviceNode", "type", Rule::node_type, one_of(std::array{"", "b", "c", "u", "p"})},
      {"DeviceNode", "major", Rule::node_numbers, {{"minimum", 0}}},
      {"DeviceNode", "minor", Rule::node_numbers, {{"minimum", 0}}},
      {"DeviceNode", "permissions", Rule::node_permissions, all_matching("[rwm]*|none")},
      {"NetDevice", "hostInterfaceName", Rule::net_names, not_empty_text()},
      {"NetDevice", "name", Rule::net_names, not_empty_text()},
      {"Hook", "hookName", Rule::hook_name, one_of(cdi::oci::hook_point_names)},
      {"Hook", "path", Rule::hook_path, not_empty_text()},
      {"Hook", "env", Rule::env_entry, each_item(a_variable())},
      {"Mount", "hostPath", Rule::mount_paths, not_empty_text()},
      {"Mount", "containerPath", Rule::mount_paths, not_empty_text()},
      {"IntelRdt", "closID", Rule::rdt_closid, a_closid()},
  };
}

std::vector<Demand> oci_demands() {
  return {
      {"Process", "env", Rule::env_entry, each_item(a_variable())},
      {"LinuxDevice", "path", Rule::node_path, not_empty_text()},
      {"LinuxDevice", "type", Rule::node_type, one_of(std::array{"b", "c", "u", "p"})},
      {"LinuxDeviceCgroup", "access", Rule::node_permissions, all_matching("[rwm]*")},
      {"Linux", "netDevices", Rule::net_names, each_key(not_empty_text())},
      {"LinuxNetDevice", "name", Rule::net_names, not_empty_text()},
      {"Hook", "path", Rule::hook_path, not_empty_text()},
      {"Hook", "env", Rule::env_entry, each_item(a_variable())},
      {"Mount", "destination", Rule::mount_paths, not_empty_text()},
      {"Mount", "source", Rule::mount_paths, not_empty_text()},
      {"LinuxIntelRdt", "closID", Rule::rdt_closid, a_closid()},
  };
}

/// A pattern of a qualified name: see `detail::fault_of_device`.
Json a_device_pattern() {
  const std::string any = "[A-Za-z0-9_.:*-]";
  return all_matching("(" + any + "*/" + any + "*|" + any + "*[*]" + any + "*)=" + any + "+");
}

/// A list of patterns, of which few have a `*`.
Json patterns(Json words) {
  return {{"items", std::move(words)},
          {"contains", matching("[*]")},
          {"minContains", 0},
          {"maxContains", cdi::max_wildcards}};
}

/// `validate_policy` checks the same.
std::vector<Demand> policy_demands() {
  Json path = matching("^/");
  path["not"] = matching("(^|/)[.][.](/|$)");
  const Json path_patterns = patterns(path);
  const Json variable_patterns = patterns({{"minLength", 1}, {"not", matching("=")}});
  return {
      {"Policy", "rules", {}, at_most(cdi::max_rules)},
      {"PolicyRule", "name", {}, not_empty_text()},
      {"PolicyRule", "devices", {}, patterns(a_device_pattern())},
      {"PolicyRule", "sources", {}, each_item(one_of(cdi::request_origin_names))},
      {"PolicyRule", "files", {}, path_patterns},
      {"PolicyRule", "fileMode", {}, all_matching("[0-7]{0,4}|0[0-7]{4}")},
      {"EditLimits", "env", {}, variable_patterns},
      {"EditLimits", "deviceNodes", {}, path_patterns},
      {"EditLimits", "netDevices", {}, patterns(not_empty_text())},
      {"EditLimits", "hooks", {}, path_patterns},
      {"EditLimits", "hookEnv", {}, variable_patterns},
      {"EditLimits", "mounts", {}, path_patterns},
      {"EditLimits", "mountOptions", {}, patterns(not_empty_text())},
  };
}

/// The members that edits write, including those that a new process must have. Types that are not
/// listed have all their members.
std::vector<Part> oci_parts() {
  return {
      {"Spec", {"process", "mounts", "hooks", "linux"}},
      {"Process", {"user", "env", "cwd"}},
      {"User", {"uid", "gid", "additionalGids"}},
      {"Linux", {"resources", "devices", "netDevices", "intelRdt"}},
      {"LinuxResources", {"devices"}},
  };
}

Json cdi_schema() {
  const std::string version = to_string(cdi::current_version);
  return Schema{cdi_demands(), {}, Members::current}.document<cdi::Spec>(
      "urn:container-device-interface:cdi-" + version,
      "A spec of the Container Device Interface " + version);
}

Json oci_edits_schema() {
  return Schema{oci_demands(), oci_parts(), Members::current}.document<cdi::oci::Spec>(
      "urn:container-device-interface:oci-edits",
      "What edits of the Container Device Interface write into an OCI config");
}

Json policy_schema() {
  return Schema{policy_demands(), {}, Members::current}.document<cdi::Policy>(
      "urn:container-device-interface:policy",
      "A policy: which devices may be injected, and what their edits may do");
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<std::string_view, Json (*)()> schemas[] = {
      {"cdi", cdi_schema},           {"oci-edits", oci_edits_schema}, {"policy", policy_schema},
      {"resolved", resolved_schema}, {"shown", shown_schema},         {"results", results_schema}};
  for (const auto& [name, schema] : schemas) {
    if (argc != 2 || argv[1] != name) continue;
    std::cout << schema().dump(2) << '\n';
    return 0;
  }
  std::cerr << "usage: generate-schema cdi|oci-edits|policy|resolved|shown|results\n";
  return 2;
}
