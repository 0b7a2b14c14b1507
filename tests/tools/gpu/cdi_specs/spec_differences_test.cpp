// The differences between two specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/cdi_specs/spec_differences.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/nlohmann.hpp>
#include <cdi/spec.hpp>

namespace {

using prepare::Difference;
using Lines = std::vector<std::string>;

/// A spec with every kind of content.
cdi::Spec spec() {
  auto read = cdi::read_json<cdi::Spec>(R"({
    "cdiVersion": "1.1.0",
    "kind": "nvidia.com/gpu",
    "annotations": {"cdi-prepare/driver-version": "570.1"},
    "devices": [
      {"name": "0", "annotations": {"a": "b"}, "containerEdits": {
        "deviceNodes": [
          {"path": "/dev/nvidia0", "type": "c", "major": 195, "fileMode": 438},
          {"path": "/dev/dri/card0", "hostPath": "/dev/dri/card1"}],
        "additionalGids": [44, 109]}},
      {"name": "1", "containerEdits": {
        "deviceNodes": [{"path": "/dev/nvidia1", "type": "c", "major": 195, "minor": 1}]}}],
    "containerEdits": {
      "env": ["A=1", "B=x=y"],
      "deviceNodes": [{"path": "/dev/nvidia-uvm", "type": "c", "major": 510}],
      "netDevices": [{"hostInterfaceName": "eth0", "name": "net0"}],
      "hooks": [
        {"hookName": "createContainer", "path": "/usr/bin/hook", "args": ["hook", "ldcache"],
         "env": ["DEBUG=0"], "timeout": 5},
        {"hookName": "createContainer", "path": "/usr/bin/hook", "args": ["hook", "links"]}],
      "mounts": [
        {"hostPath": "/usr/lib/libcuda.so.1", "containerPath": "/usr/lib/libcuda.so.1",
         "options": ["ro", "bind"]},
        {"hostPath": "/run/socket", "containerPath": "/run/socket"}],
      "intelRdt": {"closID": "guaranteed", "schemata": ["L3:0=f", "MB:0=50"]}}})");
  REQUIRE(read);
  return std::move(*read);
}

/// What is said when `edit` changes the spec.
Lines after(const std::function<void(cdi::Spec&)>& edit) {
  auto changed = spec();
  edit(changed);
  Lines lines;
  for (const auto& change : prepare::changes(spec(), changed)) lines.push_back(to_text(change));
  return lines;
}

}  // namespace

TEST_CASE("equal specs have no changes") {
  CHECK(prepare::changes(spec(), spec()).empty());
  CHECK(prepare::changes({}, {}).empty());
}

TEST_CASE("order alone is not a change") {
  CHECK(after([](cdi::Spec& s) {
          const auto turn = [](auto& list) {
            std::reverse(list.begin(), list.end());
          };
          turn(s.devices);
          auto& edits = s.container_edits;
          turn(edits.env);
          turn(edits.hooks);
          turn(edits.mounts);
          turn(s.devices[1].container_edits.device_nodes);
          turn(s.devices[1].container_edits.additional_gids);
        }).empty());
}

TEST_CASE("a device is one line") {
  CHECK(after([](cdi::Spec& s) {
          auto device = s.devices[1];
          device.name = "GPU-5f2a1c0e";
          s.devices.push_back(device);
        }) == Lines{"+ device \"GPU-5f2a1c0e\""});
  CHECK(after([](cdi::Spec& s) { s.devices.pop_back(); }) == Lines{"- device \"1\""});
}

TEST_CASE("device nodes") {
  CHECK(after([](cdi::Spec& s) { s.container_edits.device_nodes[0].major = 511; }) ==
        Lines{"~ node /dev/nvidia-uvm: major 510 -> 511"});
  CHECK(after([](cdi::Spec& s) {
          s.devices[0].container_edits.device_nodes[0].file_mode = 0660;
        }) == Lines{"~ device \"0\": node /dev/nvidia0: fileMode 0666 -> 0660"});
  CHECK(after([](cdi::Spec& s) { s.devices[0].container_edits.device_nodes[0].gid = 44; }) ==
        Lines{"+ device \"0\": node /dev/nvidia0: gid 44"});
  CHECK(after([](cdi::Spec& s) { s.devices[1].container_edits.device_nodes[0].minor = 0; }) ==
        Lines{"- device \"1\": node /dev/nvidia1: minor 1"});
  CHECK(after([](cdi::Spec& s) { s.devices[0].container_edits.device_nodes.pop_back(); }) ==
        Lines{"- device \"0\": node /dev/dri/card0"});
  CHECK(after([](cdi::Spec& s) {
          s.devices[0].container_edits.device_nodes[0].path = "/dev/nvidia2";
        }) == Lines{"- device \"0\": node /dev/nvidia0", "+ device \"0\": node /dev/nvidia2"});
}

TEST_CASE("mounts") {
  CHECK(after([](cdi::Spec& s) { s.container_edits.mounts.pop_back(); }) ==
        Lines{"- mount /run/socket"});
  CHECK(after([](cdi::Spec& s) {
          s.devices[0].container_edits.mounts.push_back(
              {.host_path = "/lib/a", .container_path = "/lib/b"});
        }) == Lines{"+ device \"0\": mount /lib/b"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.mounts[0].host_path = "/lib/libcuda.so"; }) ==
        Lines{"~ mount /usr/lib/libcuda.so.1: hostPath /usr/lib/libcuda.so.1 -> /lib/libcuda.so"});
  CHECK(after([](cdi::Spec& s) {
          s.container_edits.mounts[0].options = {"rw", "bind"};
        }) == Lines{"~ mount /usr/lib/libcuda.so.1: options ro bind -> rw bind"});
}

TEST_CASE("variables") {
  CHECK(after([](cdi::Spec& s) { s.container_edits.env[1] = "B=x=z"; }) ==
        Lines{"~ env B: x=y -> x=z"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.env[0] = "A="; }) ==
        Lines{"~ env A: 1 -> \"\""});
  CHECK(after([](cdi::Spec& s) { s.container_edits.env[0] = "A"; }) == Lines{"~ env A: 1 -> \"\""});
  CHECK(after([](cdi::Spec& s) { s.container_edits.env.push_back("C=3"); }) == Lines{"+ env C: 3"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.env.pop_back(); }) == Lines{"- env B: x=y"});
}

TEST_CASE("hooks") {
  CHECK(after([](cdi::Spec& s) { s.container_edits.hooks.pop_back(); }) ==
        Lines{"- hook createContainer /usr/bin/hook hook links"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.hooks[0].timeout = 6; }) ==
        Lines{"~ hook createContainer /usr/bin/hook hook ldcache: timeout 5 -> 6"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.hooks[0].env = {"DEBUG=1"}; }) ==
        Lines{"~ hook createContainer /usr/bin/hook hook ldcache: env DEBUG: 0 -> 1"});
}

TEST_CASE("a hook without arguments") {
  CHECK(after([](cdi::Spec& s) {
          s.container_edits.hooks.push_back({.hook_name = "poststop", .path = "/bin/x"});
        }) == Lines{"+ hook poststop /bin/x"});
}

TEST_CASE("annotations, groups and the rest") {
  CHECK(after([](cdi::Spec& s) { s.annotations["cdi-prepare/driver-version"] = "575.2"; }) ==
        Lines{"~ annotation cdi-prepare/driver-version: 570.1 -> 575.2"});
  CHECK(after([](cdi::Spec& s) { s.devices[0].annotations.clear(); }) ==
        Lines{"- device \"0\": annotation a: b"});
  CHECK(after([](cdi::Spec& s) {
          s.devices[0].container_edits.additional_gids = {44, 110};
        }) == Lines{"- device \"0\": gid 109", "+ device \"0\": gid 110"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.net_devices[0].name = "e"; }) ==
        Lines{"~ network device eth0: name net0 -> e"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.net_devices[0].host_interface_name = "e"; }) ==
        Lines{"+ network device e", "- network device eth0"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.intel_rdt->clos_id = "burst"; }) ==
        Lines{"~ intelRdt: closID guaranteed -> burst"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.intel_rdt->schemata = {{"L3:0=f"}}; }) ==
        Lines{"~ intelRdt: schemata L3:0=f MB:0=50 -> L3:0=f"});
  CHECK(after([](cdi::Spec& s) { s.container_edits.intel_rdt.reset(); }) == Lines{"- intelRdt"});
  CHECK(after([](cdi::Spec& s) { s.version = "1.0.0"; }) == Lines{"~ cdiVersion 1.1.0 -> 1.0.0"});
  CHECK(after([](cdi::Spec& s) { s.kind = "a.b/c"; }) == Lines{"~ kind nvidia.com/gpu -> a.b/c"});
}

TEST_CASE("changes are sorted by place") {
  CHECK(after([](cdi::Spec& s) {
          s.container_edits.device_nodes[0].major = 511;
          s.annotations["a"] = "b";
          s.devices.pop_back();
          s.devices.push_back({.name = "2"});
        }) == Lines{"+ annotation a: b", "- device \"1\"", "+ device \"2\"",
                    "~ node /dev/nvidia-uvm: major 510 -> 511"});
}

TEST_CASE("items of one name are distinct") {
  CHECK(after([](cdi::Spec& s) {
          auto& mounts = s.container_edits.mounts;
          mounts.push_back(mounts[1]);
          mounts.back().host_path = "/run/other";
        }) == Lines{"+ mount /run/socket (2)"});
}

TEST_CASE("a change has its parts") {
  auto changed = spec();
  changed.devices[1].container_edits.device_nodes[0].major = 196;
  changed.container_edits.env[0] = "A=2";
  CHECK(prepare::changes(spec(), changed) ==
        std::vector<Difference>{
            {.what = Difference::What::changed,
             .where = "device \"1\": node /dev/nvidia1",
             .member = "major",
             .before = "195",
             .after = "196"},
            {.what = Difference::What::changed, .where = "env A", .before = "1", .after = "2"}});
}

TEST_CASE("unprintable text stays on its line") {
  CHECK(after([](cdi::Spec& s) { s.container_edits.env[0] = "A=\n\x1b[31m\xff\xc3\xa4"; }) ==
        Lines{"~ env A: 1 -> \\n\\x1b[31m\\xff\xc3\xa4"});
}

TEST_CASE("specs of odd content") {
  auto odd = spec();
  odd.devices[0].name = "";
  odd.devices[1].name = "";
  odd.container_edits.env = {"", "=", "A"};
  odd.container_edits.mounts[0] = {};
  odd.container_edits.hooks[0] = {};
  CHECK(prepare::changes(odd, odd).empty());
  CHECK_FALSE(prepare::changes(spec(), odd).empty());
}
