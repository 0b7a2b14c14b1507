// Prints a JSON schema, draft 2020-12, of the field lists and of the rules that are errors:
//
//   generate-schema cdi         a spec file, with the members of the current version
//   generate-schema oci-edits   an empty OCI config after edits of such specs
//   generate-schema policy      a policy
//   generate-schema resolved    what cdi resolve -o json prints
//   generate-schema shown       what cdi show -o json prints
//
// The schemas are for writers: they do not allow null or field names in another case, which readers
// accept.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <cxxabi.h>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/minimum_version.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/shapes.hpp>
#include <cdi/model/type.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>

#include "../tools/kit/cdi_specs/overlaps.hpp"

namespace {

using cdi::Rule;
using Json = nlohmann::ordered_json;

// Keywords of JSON schema for what rules require of members.

Json one_of(const auto& texts) {
  return {{"enum", texts}};
}
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

/// What a rule requires of a member, besides its type. A demand without a rule is always an error.
struct Demand {
  std::string_view type;
  std::string_view key;
  std::optional<Rule> rule;
  Json words;
};

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

/// A type with only some of its members in the schema, none of them required.
struct Part {
  std::string_view type;
  std::vector<std::string_view> keys;
};

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

/// For example, `LinuxDevice` for `cdi::oci::BasicLinuxDevice<cdi::Owning>`, and `Policy` for
/// `cdi::Policy`.
template <class T>
std::string type_name() {
  const std::unique_ptr<char, void (*)(void*)> whole{
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr), std::free};
  constexpr std::string_view mark = "Basic";
  std::string_view name{whole.get()};
  name = name.substr(0, name.find('<'));
  name = name.substr(name.rfind(':') + 1);
  return std::string{name.starts_with(mark) ? name.substr(mark.size()) : name};
}

class Schema {
 public:
  Schema(std::vector<Demand> demands, std::vector<Part> parts)
      : demands_{std::move(demands)}, parts_{std::move(parts)} {}

  /// The schema of what `cdi resolve -o json` prints. Can be called only once.
  Json resolved() {
    Json properties{{"version", {{"const", 1}}}, {"devices", list_of(origin())}};
    cdi::Plan::each_kind([&]<class Edit>(const char* key,
                                         std::vector<cdi::Planned<Edit>> cdi::Plan::*,
                                         auto) { properties[key] = list_of(planned<Edit>()); });
    properties["notes"] = list_of(closed({{"class", hook_class()},
                                          {"way", way()},
                                          {"subject", value<std::string>()},
                                          {"reason", value<std::string>()},
                                          {"origin", origin()}}));
    properties["overlaps"] = list_of(closed({{"code", overlap_code()},
                                             {"key", value<std::string>()},
                                             {"equal", value<bool>()},
                                             {"first", origin()},
                                             {"second", origin()}}));
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"$id", "urn:container-device-interface:resolved-1"},
                {"title", "The resolved edits of devices, as cdi resolve prints them"}};
    schema.update(closed(std::move(properties)));
    schema["$defs"] = std::move(definitions_);
    return schema;
  }

  /// The schema of what `cdi show -o json` prints. Can be called only once.
  Json shown() {
    Json kinds = Json::object();
    std::vector<std::string> keys;
    cdi::Plan::each_kind(
        [&]<class Edit>(const char* key, std::vector<cdi::Planned<Edit>> cdi::Plan::*, auto) {
          kinds[key] = list_of(closed({{"edit", value<Edit>()}, {"origin", origin()}}));
          keys.emplace_back(key);
        });
    Json device = closed({{"name", value<std::string>()},
                          {"file", value<std::string>()},
                          {"line", value<std::uint32_t>()},
                          {"annotations", value<decltype(cdi::Device::annotations)>()},
                          {"edits", closed(std::move(kinds), keys)}},
                         {"annotations"});
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"$id", "urn:container-device-interface:shown-1"},
                {"title", "The edits of devices as in their files, as cdi show prints them"}};
    schema.update(closed({{"version", {{"const", 1}}}, {"devices", list_of(std::move(device))}}));
    schema["$defs"] = std::move(definitions_);
    return schema;
  }

  /// The schema of a document whose root is a `T`. Can be called only once.
  template <cdi::Described T>
  Json document(std::string_view id, std::string_view title) {
    Json schema{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", id}, {"title", title}};
    schema.update(object<T>());
    schema["$defs"] = std::move(definitions_);
    if (!demands_.empty()) {
      const std::string member = std::string{demands_[0].type}.append(".").append(demands_[0].key);
      throw std::logic_error{"a rule names the member " + member + ", which does not exist"};
    }
    return schema;
  }

 private:
  static Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

  /// An object that has all these members, but for `optional` ones, and no others.
  static Json closed(Json properties, const std::vector<std::string>& optional = {}) {
    Json required = Json::array();
    for (const auto& [key, words] : properties.items()) {
      if (std::count(optional.begin(), optional.end(), key) == 0) required.push_back(key);
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
  }

  Json origin() {
    definitions_["Origin"] = closed({{"name", value<std::string>()},
                                     {"file", value<std::string>()},
                                     {"line", value<std::uint32_t>()},
                                     {"where", value<std::string>()}},
                                    {"line"});
    return {{"$ref", "#/$defs/Origin"}};
  }

  template <class Edit>
  Json planned() {
    Json members{{"edit", value<Edit>()}, {"origin", origin()}, {"overridden", value<bool>()}};
    if constexpr (std::same_as<Edit, cdi::Hook>) members["class"] = hook_class();
    return closed(std::move(members), {"overridden"});
  }

  static Json hook_class() {
    std::vector<std::string_view> names;
    for (const auto& row : cdi::hook_classes) names.push_back(row.name);
    return one_of(names);
  }
  static Json way() { return one_of(cdi::hook_way_names); }
  static Json overlap_code() {
    std::vector<std::string_view> codes;
    for (const auto& row : tools::overlap_kinds) codes.push_back(row.code);
    return one_of(codes);
  }

  template <cdi::Described T>
  Json object() {
    const std::string type = type_name<T>();
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& other) { return other.type == type; });
    const bool whole = part == parts_.end();
    Json properties = Json::object();
    Json required = Json::array();
    cdi::every_field<T>([&](const auto& field) {
      using Member = typename std::remove_cvref_t<decltype(field)>::value_type;
      const bool here = whole || std::count(part->keys.begin(), part->keys.end(), field.key) > 0;
      if (!here || !field.lifetime.has(cdi::current_version)) return true;
      Json& words = properties[std::string{field.key}] = value<Member>();
      words.update(take_demand(type, field.key), /*merge_objects=*/true);
      if (whole && field.when == cdi::Presence::required) required.push_back(field.key);
      return true;
    });
    Json words{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) words["required"] = std::move(required);
    words["additionalProperties"] = false;
    return words;
  }

  template <class T>
  Json value() {
    if constexpr (cdi::detail::Optional<T>) {
      return value<typename T::value_type>();
    } else if constexpr (cdi::Described<T>) {
      return reference<T>();
    } else if constexpr (cdi::detail::is_any_value<T>) {
      return Json::object();
    } else if constexpr (std::same_as<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::integral<T>) {
      return {{"type", "integer"},
              {"minimum", std::numeric_limits<T>::min()},
              {"maximum", std::numeric_limits<T>::max()}};
    } else if constexpr (cdi::detail::Text<T>) {
      return {{"type", "string"}};
    } else if constexpr (cdi::detail::Dict<T>) {
      return {{"type", "object"}, {"additionalProperties", value<typename T::mapped_type>()}};
    } else {
      static_assert(cdi::detail::List<T>);
      return {{"type", "array"}, {"items", value<typename T::value_type>()}};
    }
  }

  template <cdi::Described T>
  Json reference() {
    const std::string type = type_name<T>();
    if (!definitions_.contains(type)) {
      definitions_[type] = nullptr;  // puts it before the types of its members
      definitions_[type] = object<T>();
    }
    return {{"$ref", "#/$defs/" + type}};
  }

  /// What a rule requires of a member; empty if the rule is only a warning.
  Json take_demand(std::string_view type, std::string_view key) {
    const auto found = std::find_if(demands_.begin(), demands_.end(), [&](const Demand& demand) {
      return demand.type == type && demand.key == key;
    });
    if (found == demands_.end()) return Json::object();
    const Demand demand = std::move(*found);
    demands_.erase(found);
    const bool warns = demand.rule && cdi::row_of(*demand.rule).severity == cdi::Severity::warning;
    return warns ? Json::object() : demand.words;
  }

  std::vector<Demand> demands_;
  std::vector<Part> parts_;
  Json definitions_ = Json::object();
};

Json cdi_schema() {
  const std::string version = to_string(cdi::current_version);
  return Schema{cdi_demands(), {}}.document<cdi::Spec>(
      "urn:container-device-interface:cdi-" + version,
      "A spec of the Container Device Interface " + version);
}

Json oci_edits_schema() {
  return Schema{oci_demands(), oci_parts()}.document<cdi::oci::Spec>(
      "urn:container-device-interface:oci-edits",
      "What edits of the Container Device Interface write into an OCI config");
}

Json policy_schema() {
  return Schema{policy_demands(), {}}.document<cdi::Policy>(
      "urn:container-device-interface:policy",
      "A policy: which devices may be injected, and what their edits may do");
}

Json resolved_schema() {
  return Schema{{}, {}}.resolved();
}

Json shown_schema() {
  return Schema{{}, {}}.shown();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view which = argc == 2 ? argv[1] : "";
  if (which == "cdi") {
    std::cout << cdi_schema().dump(2) << '\n';
  } else if (which == "oci-edits") {
    std::cout << oci_edits_schema().dump(2) << '\n';
  } else if (which == "policy") {
    std::cout << policy_schema().dump(2) << '\n';
  } else if (which == "resolved") {
    std::cout << resolved_schema().dump(2) << '\n';
  } else if (which == "shown") {
    std::cout << shown_schema().dump(2) << '\n';
  } else {
    std::cerr << "usage: generate-schema cdi|oci-edits|policy|resolved|shown\n";
    return 2;
  }
}
