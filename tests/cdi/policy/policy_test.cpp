// Tests for include/cdi/policy/policy.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/policy/policy.hpp>

namespace {

/// The error of a policy text on one line; empty when there is none.
std::string error_of(std::string_view text) {
  const auto policy = cdi::read_policy(text, "p");
  return policy ? "" : to_string(policy.error());
}

/// The error of a policy with one rule that has these members, too.
std::string error_of_rule(const std::string& members) {
  return error_of(R"({"rules":[{"name":"r","allow":true,)" + members + "}]}");
}

}  // namespace

TEST_CASE("All members are read") {
  const auto policy = cdi::read_policy(R"({"rules": [
    {"name": "a", "allow": true, "devices": ["v.com/gpu=*"], "sources": ["field", "commandLine"],
     "files": ["/etc/cdi"], "fileOwners": [0], "fileGroups": [0, 44], "fileMode": "0644",
     "edits": {"env": ["GPU_*"], "deviceNodes": ["/dev/gpu*"], "nodeNumbers": false,
               "netDevices": ["eth*"], "hooks": [], "hookEnv": ["GPU*"], "mounts": ["/usr/lib"],
               "mountOptions": ["ro", "*bind"], "writableMounts": false, "intelRdt": false, "additionalGids": [44]}},
    {"name": "b", "allow": false}]})");
  REQUIRE(policy);
  const cdi::PolicyRule first{.name = "a",
                              .allow = true,
                              .devices = {{"v.com/gpu=*"}},
                              .sources = {{"field", "commandLine"}},
                              .files = {{"/etc/cdi"}},
                              .file_owners = {{0}},
                              .file_groups = {{0, 44}},
                              .file_mode = "0644",
                              .edits = {.env = {{"GPU_*"}},
                                        .device_nodes = {{"/dev/gpu*"}},
                                        .node_numbers = false,
                                        .net_devices = {{"eth*"}},
                                        .hooks = cdi::OptionalTexts{std::in_place},
                                        .hook_env = {{"GPU*"}},
                                        .mounts = {{"/usr/lib"}},
                                        .mount_options = {{"ro", "*bind"}},
                                        .writable_mounts = false,
                                        .intel_rdt = false,
                                        .additional_gids = {{44}}}};
  CHECK(*policy == cdi::Policy{.rules = {first, {.name = "b"}}});
}

TEST_CASE("What is written is read again, and an empty list is not an absent one") {
  const cdi::Policy policy{
      .rules = {{.name = "a",
                 .allow = true,
                 .edits = {.hooks = cdi::OptionalTexts{std::in_place}, .writable_mounts = false}}}};
  const auto text = cdi::write_json(policy, -1);
  REQUIRE(text);
  const auto again = cdi::read_policy(*text);
  REQUIRE(again);
  CHECK(*again == policy);
  CHECK(again->rules[0].edits.hooks);
  CHECK_FALSE(again->rules[0].edits.mounts);
}

TEST_CASE("Unknown, missing and wrong members are refused with their place") {
  CHECK(error_of("{}") == "p:1:1: rules: the required field is missing: add it");
  CHECK(error_of(R"({"rules":[],
 "rule":[]})") == "p:2:2: rule: unknown field: use one of rules");
  CHECK(error_of_rule(R"("hooks":[])").starts_with("p:1:36: rules[0].hooks: unknown field"));
  CHECK(error_of_rule(R"("edits":{"hook":[]})")
            .starts_with("p:1:45: rules[0].edits.hook: unknown field"));
  CHECK(
      error_of(R"({"rules":[{"name":"r"}]})").starts_with("p:1:11: rules[0].allow: the required"));
  CHECK(error_of_rule(R"("devices":"v/c=*")") ==
        R"(p:1:46: rules[0].devices: expected a list, not "v/c=*": write ["v/c=*"])");
  CHECK_FALSE(error_of_rule(R"("allow":true)").empty());
  CHECK(error_of_rule(R"("Allow":true)").find("twice") != std::string::npos);
  CHECK(error_of("rules: []").starts_with("p:1:1: "));
}

TEST_CASE("Names of members in another case are refused") {
  CHECK(error_of(R"({"Rules":[]})") ==
        "p:1:2: Rules: the member name is in a different case: write \"rules\", and only once");
  CHECK(error_of(R"({"rules":[{"name":"r","Allow":true}]})") ==
        "p:1:23: Allow: the member name is in a different case: write \"allow\", and only once");
  CHECK(error_of_rule(R"("edits":{"HOOKS":[]})") ==
        "p:1:45: HOOKS: the member name is in a different case: write \"hooks\", and only once");
}

TEST_CASE("A null is refused: it is not an empty list") {
  CHECK(error_of_rule(R"("edits":{"hooks":null})") ==
        "p:1:53: rules[0].edits.hooks: null is not allowed: remove the member, or write a value");
  CHECK(error_of_rule(R"("devices":[null])").starts_with("p:1:47: rules[0].devices[0]: null"));
  CHECK(error_of("null").starts_with("p:1:1: null"));
}

TEST_CASE("Patterns that can never match, or that mean something else elsewhere, are refused") {
  for (const std::string_view good :
       {"v.com/c=d", "v.com/c=*", "*/c=a*", "*=*", "v.com/*=all", "v-1.com/c_2=0:1"}) {
    CAPTURE(good);
    CHECK(error_of_rule("\"devices\":[\"" + std::string{good} + "\"]").empty());
  }
  for (const std::string_view bad : {"", "v.com/c", "*", "c=d", "v/c=", "=d", "v/c=d=e", "v/c=[01]",
                                     "v/c=?", "v/c=d e", "v/c/e=d", "v/c=d/e", "v/c=\u00e9"}) {
    CAPTURE(bad);
    CHECK(error_of_rule("\"devices\":[\"" + std::string{bad} + "\"]")
              .starts_with("p:1:47: rules[0].devices[0]: "));
  }
}

TEST_CASE("Values are checked, with their place") {
  CHECK(error_of_rule(R"("sources":["field","Field"])") ==
        "p:1:55: rules[0].sources[1]: \"Field\" is not a source: use field, annotation, variable "
        "or commandLine");
  CHECK(error_of_rule(R"("files":["etc/cdi"])") ==
        "p:1:45: rules[0].files[0]: \"etc/cdi\" is not an absolute path: start it with /");
  CHECK(error_of_rule(R"("edits":{"mounts":["/usr/lib/../.."]})") ==
        "p:1:55: rules[0].edits.mounts[0]: \"/usr/lib/../..\" contains ..: write the path without "
        "it");
  CHECK(error_of_rule(R"("edits":{"hooks":["a"]})").starts_with("p:1:54: rules[0].edits.hooks[0]"));
  CHECK(error_of_rule(R"("edits":{"env":["A=1"]})").starts_with("p:1:52: rules[0].edits.env[0]"));
  CHECK(error_of_rule(R"("edits":{"env":[""]})").starts_with("p:1:52: rules[0].edits.env[0]"));
  CHECK(error_of_rule(R"("edits":{"mountOptions":[""]})") ==
        "p:1:61: rules[0].edits.mountOptions[0]: \"\" is empty: use * for any option");
  for (const std::string_view bad : {"0800", "10644", "rw", "-644", "0x1"}) {
    CAPTURE(bad);
    CHECK(error_of_rule("\"fileMode\":\"" + std::string{bad} + "\"")
              .starts_with("p:1:47: rules[0].fileMode: "));
  }
  CHECK(error_of_rule(R"("fileMode":"7777")").empty());
}

TEST_CASE("Rules have names of their own, and those that deny have no limits") {
  CHECK(error_of(R"({"rules":[{"name":"","allow":true}]})").starts_with("p:1:19: rules[0].name: "));
  CHECK(error_of(R"({"rules":[{"name":"a","allow":true},{"name":"a","allow":false}]})")
            .starts_with("p:1:45: rules[1].name: another rule is also named \"a\""));
  CHECK(error_of(R"({"rules":[{"name":"a","allow":false,"edits":{"hooks":[]}}]})")
            .starts_with("p:1:45: rules[0].edits: a rule that denies"));
}

TEST_CASE("The number of rules is bounded") {
  cdi::Policy policy;
  for (std::size_t i = 0; i < cdi::max_rules; ++i) {
    policy.rules.push_back({.name = std::to_string(i)});
  }
  CHECK(cdi::validate_policy(policy));
  policy.rules.push_back({.name = "one more"});
  const auto valid = cdi::validate_policy(policy);
  REQUIRE_FALSE(valid);
  CHECK(valid.error().code == cdi::Errc::limit);
  CHECK(to_string(valid.error()) == "rules[1000]: at most 1000 rules are allowed: use fewer");
}

TEST_CASE("The number of patterns with * is bounded in each list, but not of others") {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < cdi::max_wildcards; ++i) {
    names.push_back("*" + std::to_string(i));
    paths.push_back("/*" + std::to_string(i));
    for (int more = 0; more < 20; ++more) {
      names.push_back(std::to_string(i));
      paths.push_back("/" + std::to_string(i));
    }
  }
  const auto error = [](cdi::EditLimits limits) {
    const auto valid =
        cdi::validate_policy({.rules = {{.name = "r", .allow = true, .edits = std::move(limits)}}});
    return valid ? std::string{} : to_string(valid.error());
  };
  CHECK(error({.env = names, .hooks = paths, .mounts = paths}).empty());
  paths.emplace_back("/one*more");
  CHECK(error({.env = names, .mounts = paths}) ==
        "rules[0].edits.mounts[21000]: at most 1000 patterns with * in a list are allowed: use "
        "fewer");
}

TEST_CASE("A text over a limit is refused") {
  const auto policy = cdi::read_policy(R"({"rules":[]})", "p", {.bytes = 4});
  REQUIRE_FALSE(policy);
  CHECK(policy.error().code == cdi::Errc::limit);
}
