// Tests for include/cdi/rules/validate_edits.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/copy_as.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/rules/validate_edits.hpp>

#include "checked_specs.hpp"

namespace {

using cdi::ContainerEdits;
using cdi::Spec;

/// Some edits and what is wrong with them.
struct Row {
  ContainerEdits edits;
  std::string expected;
};

cdi::IntelRdt closid(std::string id) {
  return {.clos_id = std::move(id)};
}

const std::string long_id(4096, 'a');

const std::vector<Row> rows{
    {{}, ""},
    // env
    {{.env = {"A=", "A=1", "A=b=c", "A=1", "a b=\n"}}, ""},
    {{.env = {"A=1", "A"}}, R"(env[1]: invalid environment variable "A": use NAME=value)"},
    {{.env = {"=1"}}, R"(env[0]: invalid environment variable "=1": use NAME=value)"},
    {{.env = {""}}, R"(env[0]: invalid environment variable "": use NAME=value)"},
    // device nodes
    {{.device_nodes = {{.path = "rel/../x", .major = 0, .minor = 0}, {.path = "rel/../x"}}}, ""},
    {{.device_nodes = {{.path = "/a", .type = "c", .major = -1, .minor = -1}}},
     "deviceNodes[0].major: device number -1 is negative: use 0 or more, or omit it"},
    {{.device_nodes = {{.path = "/a", .type = "c", .major = 1, .minor = -1}}},
     "deviceNodes[0].minor: device number -1 is negative: use 0 or more, or omit it"},
    {{.device_nodes = {{.path = "/a"}, {.host_path = "/b"}}},
     "deviceNodes[1].path: the device node has no path: set it to the path of the node in the "
     "container"},
    {{.device_nodes = {{.path = "/a", .type = "b", .permissions = "rwm"},
                       {.path = "/a", .type = "c", .permissions = "mmr"},
                       {.path = "/a", .type = "u", .permissions = "none"},
                       {.path = "/a", .type = "p", .permissions = ""}}},
     ""},
    {{.device_nodes = {{.path = "/a", .type = "C"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "C": use "b", "c", "u" or "p", or omit it)"},
    {{.device_nodes = {{.path = "/a", .type = "bc"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "bc": use "b", "c", "u" or "p", or omit it)"},
    {{.device_nodes = {{.path = "/a", .permissions = "rwx"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "rwx": use a combination of "r", "w" and "m", or "none")"},
    {{.device_nodes = {{.path = "/a", .permissions = "None"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "None": use a combination of "r", "w" and "m", or "none")"},
    // hooks
    {{.hooks = {{.hook_name = "prestart", .path = "rel", .timeout = -1},
                {.hook_name = "createRuntime", .path = "/h", .timeout = 0},
                {.hook_name = "createContainer", .path = "/h"},
                {.hook_name = "startContainer", .path = "/h"},
                {.hook_name = "poststart", .path = "/h"},
                {.hook_name = "poststop", .path = "/h"}}},
     ""},
    {{.hooks = {{.hook_name = "preStart", .path = "/h"}}},
     R"(hooks[0].hookName: invalid hook name "preStart": use one of prestart, createRuntime, )"
     "createContainer, startContainer, poststart, poststop"},
    {{.hooks = {{.hook_name = "prestart"}}},
     R"(hooks[0].path: hook "prestart" has no path: set it to the path of the program to run)"},
    {{.hooks = {{.hook_name = "prestart", .path = "/h", .env = {"A=1", "B"}}}},
     R"(hooks[0].env[1]: invalid environment variable "B": use NAME=value)"},
    // mounts
    {{.mounts = {{.host_path = "a", .container_path = "b", .options = {"?"}, .type = "?"}}}, ""},
    {{.mounts = {{.container_path = "/b"}}},
     "mounts[0].hostPath: the mount has no host path: set it to the path to mount"},
    {{.mounts = {{.host_path = "/a"}}},
     R"(mounts[0].containerPath: mount of "/a" has no container path: set it to the mount point in the container)"},
    // rdt
    {{.intel_rdt = closid("")}, ""},
    {{.intel_rdt = closid("/")}, ""},
    {{.intel_rdt = closid("a b...")}, ""},
    {{.intel_rdt = closid(long_id.substr(1))}, ""},
    // net devices
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "b", .name = "a"}}},
     ""},
    {{.net_devices = {{.name = "b"}}},
     "netDevices[0].hostInterfaceName: the net device has no host interface name: set it to the "
     "interface to move"},
    {{.net_devices = {{.host_interface_name = "a"}}},
     R"(netDevices[0].name: net device "a" has no name in the container: set a name)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "d"},
                      {.host_interface_name = "a", .name = "e"}}},
     R"(netDevices[2].hostInterfaceName: "a" is already used by netDevices[0]: choose another name)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "b"}}},
     R"(netDevices[1].name: "b" is already used by netDevices[0]: choose another name)"},
};

}  // namespace

TEST_CASE("Edits are checked on their own, in the spec and in every device") {
  for (const auto& row : rows) {
    CAPTURE(row.expected);
    CHECK(fault(row.edits) == row.expected);
    CHECK(fault(cdi::copy_as<cdi::ContainerEditsView>(row.edits)) == row.expected);

    Spec spec = whole_spec();
    spec.container_edits = row.edits;
    CHECK(fault(spec) == (row.expected.empty() ? "" : "containerEdits." + row.expected));

    if (cdi::is_empty(row.edits)) continue;
    spec = whole_spec();
    spec.devices.push_back({.name = "1", .container_edits = row.edits});
    CHECK(fault(spec) == (row.expected.empty() ? "" : "devices[1].containerEdits." + row.expected));
  }
}

TEST_CASE("A closID names a directory") {
  for (const std::string& id :
       {std::string{"."}, std::string{".."}, std::string{"a/b"}, std::string{"/a"},
        std::string{"//"}, std::string{"a\n"}, long_id}) {
    const auto good = cdi::validate(ContainerEdits{.intel_rdt = closid(id)});
    CAPTURE(id);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == "intelRdt.closID");
    CHECK(good.error().message.starts_with("closID \""));
    CHECK(good.error().message.size() < 300);
    CHECK(good.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("An interface name has no slash, colon or white space") {
  // `ip link set lo name` refuses the last one, too.
  for (const std::string end : {"/", ":", " ", "\t", "\n", "\v", "\f", "\r", "\xC3\xA0"}) {
    Spec spec = whole_spec();
    edits_of(spec).net_devices = {{.host_interface_name = "a", .name = "a" + end}};
    std::vector<cdi::Error> warnings;
    CHECK(cdi::validate(spec, &warnings));
    CHECK(warnings.size() == 1);
  }
}

TEST_CASE("An interface name has at most 15 bytes, and is not a directory") {
  for (const std::string& name : {std::string{"."}, std::string{".."}, std::string(16, 'a')}) {
    Spec spec = whole_spec();
    edits_of(spec).net_devices = {{.host_interface_name = "a", .name = name}};
    std::vector<cdi::Error> warnings;
    CHECK(cdi::validate(spec, &warnings));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].rule == "net-name-length");
  }
  for (const std::string& name : {std::string(15, 'a'), std::string{"a\xC3\xA1"}}) {
    Spec spec = whole_spec();
    edits_of(spec).net_devices = {{.host_interface_name = "...", .name = name}};
    std::vector<cdi::Error> warnings;
    CHECK(cdi::validate(spec, &warnings));
    CHECK(warnings.empty());
  }
}

TEST_CASE("A variable's name has no blanks, line ends or quotes") {
  const auto count = [](char c) {
    Spec spec = whole_spec();
    edits_of(spec).env = {std::string{"A"} + c + "B=" + c};
    std::vector<cdi::Error> warnings;
    CHECK(cdi::validate(spec, &warnings));
    for (const auto& warning : warnings) CHECK(warning.rule == "env-name");
    return warnings.size();
  };
  for (const char c : std::string{" \t\n\v\f\r\"'`"}) CHECK(count(c) == 1);
  for (const char c : std::string{"\x08\x0e_-a\xff"}) CHECK(count(c) == 0);
}
