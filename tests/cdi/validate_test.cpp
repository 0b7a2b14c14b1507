// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/convert.hpp>
#include <cdi/validate.hpp>

namespace {

using cdi::ContainerEdits;
using cdi::Errc;
using cdi::Spec;

Spec good_spec() {
  return {.version = "1.1.0",
          .kind = "vendor.com/gpu",
          .devices = {{.name = "0", .container_edits = {.env = {"A=1"}}}}};
}

/// `where: message` of what is wrong; empty when nothing is.
template <class T>
std::string fault(const T& value) {
  const auto good = cdi::validate(value);
  if (good) return "";
  CHECK((good.error().code == Errc::invalid || good.error().code == Errc::invalid_name));
  return to_string(good.error());
}

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
    {{.env = {"A=1", "A"}}, R"(env[1]: invalid environment variable "A": write NAME=value)"},
    {{.env = {"=1"}}, R"(env[0]: invalid environment variable "=1": write NAME=value)"},
    {{.env = {""}}, R"(env[0]: invalid environment variable "": write NAME=value)"},
    // device nodes
    {{.device_nodes = {{.path = "rel/../x", .major = -1, .minor = -2}, {.path = "rel/../x"}}}, ""},
    {{.device_nodes = {{.path = "/a"}, {.host_path = "/b"}}},
     "deviceNodes[1].path: the device node has no path: name the node in the container"},
    {{.device_nodes = {{.path = "/a", .type = "b", .permissions = "rwm"},
                       {.path = "/a", .type = "c", .permissions = "mmr"},
                       {.path = "/a", .type = "u", .permissions = "none"},
                       {.path = "/a", .type = "p", .permissions = ""}}},
     ""},
    {{.device_nodes = {{.path = "/a", .type = "C"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "C": use "b", "c", "u" or "p", or leave it out)"},
    {{.device_nodes = {{.path = "/a", .type = "bc"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "bc": use "b", "c", "u" or "p", or leave it out)"},
    {{.device_nodes = {{.path = "/a", .permissions = "rwx"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "rwx": use some of "rwm", or "none")"},
    {{.device_nodes = {{.path = "/a", .permissions = "None"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "None": use some of "rwm", or "none")"},
    // hooks
    {{.hooks = {{.hook_name = "prestart", .path = "rel", .timeout = -1},
                {.hook_name = "createRuntime", .path = "/h", .timeout = 0},
                {.hook_name = "createContainer", .path = "/h"},
                {.hook_name = "startContainer", .path = "/h"},
                {.hook_name = "poststart", .path = "/h"},
                {.hook_name = "poststop", .path = "/h"}}},
     ""},
    {{.hooks = {{.hook_name = "preStart", .path = "/h"}}},
     R"(hooks[0].hookName: invalid hook name "preStart": use one of prestart createRuntime )"
     "createContainer startContainer poststart poststop"},
    {{.hooks = {{.hook_name = "prestart"}}},
     R"(hooks[0].path: hook "prestart" has no path: name the program to run)"},
    {{.hooks = {{.hook_name = "prestart", .path = "/h", .env = {"A=1", "B"}}}},
     R"(hooks[0].env[1]: invalid environment variable "B": write NAME=value)"},
    // mounts
    {{.mounts = {{.host_path = "a", .container_path = "b", .options = {"?"}, .type = "?"}}}, ""},
    {{.mounts = {{.container_path = "/b"}}},
     "mounts[0].hostPath: the mount has no host path: name what to mount"},
    {{.mounts = {{.host_path = "/a"}}},
     R"(mounts[0].containerPath: mount of "/a" has no container path: name where to mount it)"},
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
     "netDevices[0].hostInterfaceName: the net device names no interface of the host"},
    {{.net_devices = {{.host_interface_name = "a"}}},
     R"(netDevices[0].name: net device "a" has no name in the container)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "d"},
                      {.host_interface_name = "a", .name = "e"}}},
     R"(netDevices[2].hostInterfaceName: "a" is taken by netDevices[0] already: choose another)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "b"}}},
     R"(netDevices[1].name: "b" is taken by netDevices[0] already: choose another)"},
};

TEST_CASE("edits are checked on their own, in the spec and in every device") {
  for (const auto& row : rows) {
    CAPTURE(row.expected);
    CHECK(fault(row.edits) == row.expected);
    CHECK(fault(cdi::convert<cdi::ContainerEditsView>(row.edits)) == row.expected);

    Spec spec = good_spec();
    spec.container_edits = row.edits;
    CHECK(fault(spec) == (row.expected.empty() ? "" : "containerEdits." + row.expected));

    if (cdi::is_empty(row.edits)) continue;
    spec = good_spec();
    spec.devices.push_back({.name = "1", .container_edits = row.edits});
    CHECK(fault(spec) == (row.expected.empty() ? "" : "devices[1].containerEdits." + row.expected));
  }
}

TEST_CASE("a closID names a directory") {
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

TEST_CASE("the version must be one that was made, and the message lists them") {
  Spec spec = good_spec();
  for (const std::string version : {"", "1.1", "2.0.0"}) {
    spec.version = version;
    CHECK(fault(spec) == "cdiVersion: unknown version \"" + version +
                             "\": use one of 0.3.0 0.4.0 0.5.0 0.6.0 0.7.0 0.8.0 1.0.0 1.1.0");
  }
  spec.version = "v0.5.0";
  CHECK(fault(spec) == "");
  spec.version = "0.4.0";
  CHECK(fault(spec) ==
        R"(cdiVersion: version "0.4.0" is too old for devices[0].name: write "0.5.0")");
  spec.version = "0.2.0";
  spec.devices[0].name = "a";
  CHECK(fault(spec) == R"(cdiVersion: version "0.2.0" is too old: write "0.3.0")");
}

TEST_CASE("the kind must have a vendor and a class") {
  Spec spec = good_spec();
  for (const auto& row : {
           std::pair{"", R"(kind: kind "" has no slash: write vendor.com/class)"},
           std::pair{"gpu", R"(kind: kind "gpu" has no slash: write vendor.com/class)"},
           std::pair{"/gpu", R"(kind: vendor "" is empty)"},
           std::pair{"v/", R"(kind: class "" is empty)"},
           std::pair{"9/gpu", R"(kind: vendor "9" must begin with a letter)"},
           std::pair{"v/gpu-", R"(kind: class "gpu-" must end with a letter or digit)"},
       }) {
    CAPTURE(row.second);
    spec.kind = row.first;
    CHECK(fault(spec) == row.second);
  }
}

TEST_CASE("a device must have a good name and edits") {
  Spec spec = good_spec();
  spec.devices.push_back({.name = "a b", .container_edits = {.env = {"A=1"}}});
  CHECK(fault(spec).starts_with(R"(devices[1].name: device name "a b" may hold only)"));
  spec.devices[1] = {.name = "a", .annotations = {{"k", "v"}}};
  CHECK(fault(spec) ==
        R"(devices[1].containerEdits: device "a" has no edits: it would change nothing)");
  spec.devices[1].container_edits.intel_rdt.emplace();
  CHECK(fault(spec) == "");
  spec.devices[1].container_edits = {.additional_gids = {0}};
  CHECK(fault(spec) == "");
}

TEST_CASE("a spec must have devices, each with a name of its own") {
  Spec spec = good_spec();
  spec.devices.push_back({.name = "1", .container_edits = {.env = {"A=1"}}});
  spec.devices.push_back(spec.devices[0]);
  CHECK(fault(spec) ==
        R"(devices[2].name: device "0" is defined by devices[0] already: choose another name)");
  spec.devices.clear();
  CHECK(fault(spec) == "devices: the spec has no devices: define at least one");
}

TEST_CASE("the first broken rule is the error") {
  // Broken in everything; mended one by one, in the order of the reference.
  Spec spec{.version = "x", .kind = "gpu"};
  spec.container_edits = {.env = {"A"},
                          .device_nodes = {{.type = "x"}},
                          .net_devices = {{}},
                          .hooks = {{.env = {"A"}}},
                          .mounts = {{}},
                          .intel_rdt = closid(".")};
  spec.devices = {{.name = "-"}, {.name = "a", .container_edits = {.env = {"A=1"}}}};
  auto& edits = spec.container_edits;
  auto& device = spec.devices[0];

  struct Step {
    std::string where;
    std::function<void()> mend;
  };
  const std::vector<Step> steps{
      {"cdiVersion",
       [&] {
         spec.version = "0.3.0";
       }},
      {"cdiVersion",
       [&] {
         spec.version = "1.1.0";
       }},
      {"kind",
       [&] {
         spec.kind = "v/-";
       }},
      {"kind",
       [&] {
         spec.kind = "v/c";
       }},
      {"containerEdits.env[0]",
       [&] {
         edits.env.clear();
       }},
      {"containerEdits.deviceNodes[0].path",
       [&] {
         edits.device_nodes[0].path = "/a";
       }},
      {"containerEdits.deviceNodes[0].type",
       [&] {
         edits.device_nodes.clear();
       }},
      {"containerEdits.hooks[0].hookName",
       [&] {
         edits.hooks[0].hook_name = "prestart";
       }},
      {"containerEdits.hooks[0].path",
       [&] {
         edits.hooks[0].path = "/h";
       }},
      {"containerEdits.hooks[0].env[0]",
       [&] {
         edits.hooks.clear();
       }},
      {"containerEdits.mounts[0].hostPath",
       [&] {
         edits.mounts[0].host_path = "/a";
       }},
      {"containerEdits.mounts[0].containerPath",
       [&] {
         edits.mounts.clear();
       }},
      {"containerEdits.intelRdt.closID",
       [&] {
         edits.intel_rdt.reset();
       }},
      {"containerEdits.netDevices[0].hostInterfaceName",
       [&] {
         edits.net_devices.clear();
       }},
      {"devices[0].name",
       [&] {
         device.name = "a";
       }},
      {"devices[0].containerEdits",
       [&] {
         device.container_edits.env = {"A"};
       }},
      {"devices[0].containerEdits.env[0]",
       [&] {
         device.container_edits.env = {"A=1"};
       }},
      {"devices[1].name",
       [&] {
         spec.devices.clear();
       }},
      {"devices",
       [&] {
         spec = good_spec();
       }},
  };
  for (const auto& row : steps) {
    CAPTURE(row.where);
    const auto good = cdi::validate(spec);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == row.where);
    row.mend();
  }
  CHECK(cdi::validate(spec));
}

}  // namespace
