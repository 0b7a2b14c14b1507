// The adjustment for a new container: names or edits, each once, and what cannot be expressed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/injection.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "../../../tools/nri/existing.hpp"
#include "../../support/temp_tree.hpp"

namespace {

constexpr const char* spec_text = R"({"cdiVersion": "1.1.0", "kind": "v.com/c", "devices": [
{"name": "all", "containerEdits": {
  "env": ["A=1", "B=x=y"],
  "deviceNodes": [{"path": "/dev/v0", "type": "c", "major": 200, "minor": 7, "uid": 5}],
  "mounts": [{"hostPath": "/h", "containerPath": "/m", "options": ["ro", "bind"]}],
  "hooks": [{"hookName": "createContainer", "path": "/hook", "args": ["hook", "a"], "timeout": 3}]
}},
{"name": "read", "containerEdits": {
  "deviceNodes": [{"path": "/dev/v1", "type": "c", "major": 200, "minor": 8, "permissions": "r"}]}},
{"name": "make", "containerEdits": {
  "deviceNodes": [{"path": "/dev/v2", "type": "c", "major": 200, "minor": 9, "permissions": "rwm"}]}},
{"name": "block", "containerEdits": {
  "deviceNodes": [{"path": "/dev/b", "type": "b", "major": 9, "minor": 1, "permissions": "rw"}]}},
{"name": "group", "containerEdits": {"additionalGids": [44]}},
{"name": "net", "containerEdits": {"netDevices": [{"hostInterfaceName": "eth7", "name": "net1"}]}},
{"name": "rdt", "containerEdits": {"intelRdt": {"closID": "gold", "l3CacheSchema": "L3:0=f"}}},
{"name": "write", "containerEdits": {
  "deviceNodes": [{"path": "/dev/v3", "type": "c", "major": 200, "minor": 8, "permissions": "w"}]}},
{"name": "unbuffered", "containerEdits": {
  "deviceNodes": [{"path": "/dev/u", "type": "u", "major": 200, "minor": 1}]}},
{"name": "minus-env", "containerEdits": {"env": ["-PATH=/x"]}},
{"name": "minus-mount", "containerEdits": {"mounts": [{"hostPath": "/h", "containerPath": "-/m"}]}},
{"name": "minus-node", "containerEdits": {
  "deviceNodes": [{"path": "-/dev/v", "type": "c", "major": 200, "minor": 1}]}},
{"name": "minus-net", "containerEdits": {"netDevices": [{"hostInterfaceName": "-eth", "name": "n"}]}},
{"name": "rdt-all", "containerEdits": {"intelRdt": {"l3CacheSchema": "L3:0=f",
  "memBwSchema": "MB:0=10", "schemata": ["L2:0=1"], "enableMonitoring": true}}},
{"name": "node-all", "containerEdits": {"deviceNodes": [{"path": "/dev/n", "type": "c",
  "major": 200, "minor": 3, "fileMode": 432, "uid": 1, "gid": 2, "permissions": "rw"}]}},
{"name": "mount", "containerEdits": {"mounts": [{"hostPath": "/i", "containerPath": "/m"}]}},
{"name": "again", "containerEdits": {
  "deviceNodes": [{"path": "/dev/v1", "type": "c", "major": 200, "minor": 8}]}},
{"name": "rdt-monitor", "containerEdits": {"intelRdt": {"enableMonitoring": true}}},
{"name": "hooks", "containerEdits": {"hooks": [
  {"hookName": "prestart", "path": "/1"}, {"hookName": "createRuntime", "path": "/2"},
  {"hookName": "createContainer", "path": "/3"}, {"hookName": "startContainer", "path": "/4"},
  {"hookName": "poststart", "path": "/5"}, {"hookName": "poststop", "path": "/6"}]}}
]})";

/// A host with the specs above, and a pod that requests `devices` for its container `main`.
struct Node {
  TempTree dir{};
  nri::Surroundings around{};
  nri::CreateContainerRequest request{};
  nri::ContainerAdjustment out{};

  explicit Node(const std::string& devices) {
    dir.put("v.json", spec_text);
    around.families = nri::annotation_families({});
    around.runtime = {.has_device_rules = true, .has_net_devices = true};
    around.cache = std::make_shared<cdi::Cache>(std::vector<std::string>{dir.path()});
    auto& pod = *request.mutable_pod();
    pod.set_id("p");
    pod.set_namespace_("team");
    if (!devices.empty()) (*pod.mutable_annotations())["cdi.k8s.io/pod"] = devices;
    request.mutable_container()->set_name("main");
    request.mutable_container()->set_pod_sandbox_id("p");
    request.mutable_container()->set_state(nri::CONTAINER_RUNNING);
  }

  /// The way of the injection, or the error without the folder of the specs.
  std::string inject() {
    out.Clear();
    const auto requested = nri::requested_devices(request.pod(), request.container(), around);
    const auto injection = requested ? nri::inject(request, *requested, around, out)
                                     : cdi::Result<nri::Injection>{requested.error()};
    if (injection) return injection->way;
    auto text = to_string(injection.error());
    const auto at = text.find(dir.path());
    return at == std::string::npos ? text : text.erase(at, dir.path().size() + 1);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& device : out.cdi_devices()) list.push_back(device.name());
    return list;
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("nri: a pod without requests gets nothing") {
  Node node{""};
  CHECK(node.inject().empty());
  CHECK(node.out.ByteSizeLong() == 0);
}

TEST_CASE("nri: a runtime with an injector gets names") {
  Node node{"v.com/c=all,v.com/c=group"};
  node.around.runtime.injects_names = true;
  CHECK(node.inject() == "names");
  CHECK(node.names() == Texts{"v.com/c=all", "v.com/c=group"});
  node.around.settings.resolve = "always";
  node.request.mutable_pod()->mutable_annotations()->at("cdi.k8s.io/pod") = "v.com/c=all";
  CHECK(node.inject() == "edits");
  CHECK(node.names().empty());
}

TEST_CASE("nri: without our resolution, names are not checked") {
  Node node{"other.com/c=0"};
  node.around.settings.resolve = "never";
  CHECK(node.inject() == "names");
  CHECK(node.names() == Texts{"other.com/c=0"});
}

TEST_CASE("nri: of a repeated variable, mount or node, the last counts, and is the device's") {
  const auto variables = [](std::vector<std::string> env, std::string* doubt = nullptr) {
    Node node{"v.com/c=all"};
    for (auto& entry : env) node.request.mutable_container()->add_env(std::move(entry));
    const auto requested =
        nri::requested_devices(node.request.pod(), node.request.container(), node.around);
    const auto done = nri::inject(node.request, *requested, node.around, node.out);
    REQUIRE(done);
    if (doubt != nullptr) *doubt = done->doubt;
    Texts out;
    for (const auto& one : node.out.env()) out.push_back(one.key() + "=" + one.value());
    return out;
  };
  std::string doubt;
  CHECK(variables({"A=1", "A=2"}, &doubt) == Texts{"A=1", "B=x=y"});
  CHECK(doubt ==
        "the container has A more than once, and its runtime may keep the last value instead of "
        "the device's");
  CHECK(variables({"A=2", "A=1"}, &doubt) == Texts{"B=x=y"});
  CHECK(doubt.empty());
  CHECK(variables({"A=1", "B=x=y"}, &doubt).empty());
  CHECK(variables({"A=2", "B=2"}, &doubt) == Texts{"A=1", "B=x=y"});
  CHECK(doubt.empty());

  const auto mounts = [](const std::vector<std::string>& sources,
                         const std::string& devices = "v.com/c=all") {
    Node node{devices};
    for (const auto& source : sources) {
      auto& mount = *node.request.mutable_container()->add_mounts();
      mount.set_destination("/m");
      mount.set_source(source);
      if (source != "/h") continue;
      mount.add_options("ro");
      mount.add_options("bind");
    }
    CHECK(node.inject() == "edits");
    return node.out.mounts_size();
  };
  CHECK(mounts({"/h", "/other"}) == 1);
  CHECK(mounts({"/other", "/h"}) == 0);
  CHECK(mounts({"/h"}) == 0);
  CHECK(mounts({"/a", "/b"}, "v.com/c=all,v.com/c=mount") == 1);  // NRI refuses two of one path

  // Runtimes make the first node of a path, and NRI replaces it.
  const auto nodes = [](const std::vector<int>& minors) {
    Node node{"v.com/c=read,v.com/c=again"};
    for (const int minor : minors) {
      auto& device = *node.request.mutable_container()->mutable_linux()->add_devices();
      device.set_path("/dev/v1");
      device.set_type("c");
      device.set_major(200);
      device.set_minor(minor);
    }
    CHECK(node.inject() == "edits");
    return node.out.linux().devices_size();
  };
  CHECK(nodes({8, 1}) == 0);
  CHECK(nodes({1, 8}) == 1);
  CHECK(nodes({1, 1}) == 1);
}

TEST_CASE("nri: edits come from the spec") {
  Node node{"v.com/c=all"};
  CHECK(node.inject() == "edits");
  const auto& out = node.out;
  REQUIRE(out.env_size() == 2);
  CHECK(out.env(0).key() + "|" + out.env(0).value() == "A|1");
  CHECK(out.env(1).key() + "|" + out.env(1).value() == "B|x=y");
  REQUIRE(out.mounts_size() == 1);
  CHECK(out.mounts(0).destination() == "/m");
  CHECK(out.mounts(0).source() == "/h");
  CHECK(out.mounts(0).options_size() == 2);
  REQUIRE(out.hooks().create_container_size() == 1);
  CHECK(out.hooks().create_container(0).path() == "/hook");
  CHECK(out.hooks().create_container(0).args(1) == "a");
  CHECK(out.hooks().create_container(0).timeout().value() == 3);
  REQUIRE(out.linux().devices_size() == 1);
  CHECK(out.linux().devices(0).path() == "/dev/v0");
  CHECK(out.linux().devices(0).major() == 200);
  CHECK(out.linux().devices(0).minor() == 7);
  CHECK(out.linux().devices(0).uid().value() == 5);
  CHECK_FALSE(out.linux().devices(0).has_gid());
}

TEST_CASE("nri: what a container has already is not added again") {
  Node node{"v.com/c=all"};
  REQUIRE(node.inject() == "edits");
  auto& container = *node.request.mutable_container();
  container.add_env("A=1");
  container.add_env("B=x=y");
  *container.add_mounts() = node.out.mounts(0);
  *container.mutable_hooks() = node.out.hooks();
  *container.mutable_linux()->add_devices() = node.out.linux().devices(0);
  auto& rule = *container.mutable_linux()->mutable_resources()->add_devices();
  rule.set_allow(true);
  rule.set_type("c");
  rule.mutable_major()->set_value(200);
  rule.mutable_minor()->set_value(7);
  rule.set_access("rwm");
  CHECK(node.inject() == "edits");
  CHECK(node.out.ByteSizeLong() == 0);
}

TEST_CASE("nri: hooks, network devices and RDT settings of a container are not added again") {
  for (const std::string name : {"hooks", "net", "node-all", "rdt-monitor"}) {
    CAPTURE(name);
    Node node{"v.com/c=" + name};
    REQUIRE(node.inject() == "edits");
    auto& container = *node.request.mutable_container();
    *container.mutable_hooks() = node.out.hooks();
    *container.mutable_linux()->mutable_devices() = node.out.linux().devices();
    *container.mutable_linux()->mutable_net_devices() = node.out.linux().net_devices();
    if (node.out.linux().has_rdt())
      *container.mutable_linux()->mutable_rdt() = node.out.linux().rdt();
    auto& rule = *container.mutable_linux()->mutable_resources()->add_devices();
    rule.set_allow(true);  // by the runtime, for the node
    rule.set_access("rw");
    CHECK(node.inject() == "edits");
    CHECK(node.out.ByteSizeLong() == 0);
  }
}

TEST_CASE("nri: a network device is added to the container's") {
  Node node{"v.com/c=net"};
  (*node.request.mutable_container()->mutable_linux()->mutable_net_devices())["eth0"].set_name("a");
  REQUIRE(node.inject() == "edits");
  REQUIRE(node.out.linux().net_devices_size() == 1);
  CHECK(node.out.linux().net_devices().at("eth7").name() == "net1");
}

TEST_CASE("nri: a name in the CRI's field is left to the runtime") {
  Node node{"v.com/c=all,v.com/c=read"};
  node.request.mutable_container()->add_cdi_devices()->set_name("v.com/c=all");
  node.around.settings.resolve = "never";
  CHECK(node.inject() == "names");
  CHECK(node.names() == Texts{"v.com/c=read"});
  node.request.mutable_container()->add_cdi_devices()->set_name("v.com/c=read");
  CHECK(node.inject().empty());
}

TEST_CASE("nri: a container's own annotations are left to a runtime that reads them") {
  Node node{""};
  auto& annotations = *node.request.mutable_container()->mutable_annotations();
  annotations["cdi.k8s.io/vendor_0"] = "v.com/c=all";
  CHECK(node.inject() == "edits");
  CHECK(node.out.env_size() == 2);
  node.around.settings.resolve = "never";  // for runtimes that resolve names: they read both
  CHECK(node.inject().empty());
  node.around.runtime.injects_annotations = true;
  CHECK(node.inject().empty());
  (*node.request.mutable_pod()->mutable_annotations())["cdi.k8s.io/pod"] =
      "v.com/c=all,v.com/c=read";
  CHECK(node.inject() == "names");
  CHECK(node.names() == Texts{"v.com/c=read"});
  annotations["cdi.k8s.io/vendor_1"] = "what the runtime refuses";
  CHECK(node.inject() == "names");
  CHECK(node.names() == Texts{"v.com/c=all", "v.com/c=read"});
}

TEST_CASE("nri: rules keep the permissions of nodes") {
  const auto rules = [](const std::string& name) {
    Node node{name};
    CHECK(node.inject() == "edits");
    Texts list;
    for (const auto& rule : node.out.linux().resources().devices()) {
      list.push_back((rule.allow() ? "allow " : "deny ") + rule.access());
    }
    return list;
  };
  CHECK(rules("v.com/c=read") == Texts{"deny w"});
  CHECK(rules("v.com/c=make") == Texts{"allow m"});
  CHECK(rules("v.com/c=block") == Texts{"deny m"});
}

TEST_CASE("nri: nodes of one number have the access of all its rules together") {
  const auto rules = [](Node& node) {
    CHECK(node.inject() == "edits");
    Texts list;
    for (const auto& rule : node.out.linux().resources().devices()) {
      list.push_back((rule.allow() ? "allow " : "deny ") + rule.access());
    }
    return list;
  };
  Node both{"v.com/c=read,v.com/c=write"};
  CHECK(rules(both).empty());
  CHECK(both.out.linux().devices_size() == 2);
  Node given{"v.com/c=read"};
  auto& rule =
      *given.request.mutable_container()->mutable_linux()->mutable_resources()->add_devices();
  rule.set_allow(true);
  rule.set_type("c");
  rule.mutable_major()->set_value(200);
  rule.set_access("w");
  CHECK(rules(given).empty());
  rule.mutable_minor()->set_value(8);
  rule.set_access("r");
  CHECK(rules(given) == Texts{"deny w"});
  rule.set_access("w");
  const auto with = [&](bool allows, const char* type, int major, int minor) {
    rule.set_allow(allows);
    rule.set_type(type);
    rule.clear_major();
    rule.clear_minor();
    if (major > 0) rule.mutable_major()->set_value(major);
    if (minor > 0) rule.mutable_minor()->set_value(minor);
    return rules(given);
  };
  for (const auto* const type : {"a", "", "c"}) {
    CHECK(with(true, type, 0, 0).empty());
    CHECK(with(true, type, 0, 8).empty());
    CHECK(with(true, type, 200, 8).empty());
    CHECK(with(true, type, 201, 8) == Texts{"deny w"});
    CHECK(with(true, type, 200, 9) == Texts{"deny w"});
    CHECK(with(false, type, 200, 8) == Texts{"deny w"});
  }
  CHECK(with(true, "b", 200, 8) == Texts{"deny w"});
  Node listed{"v.com/c=read"};
  REQUIRE(listed.inject() == "edits");
  *listed.request.mutable_container()->mutable_linux()->add_devices() =
      nri::LinuxDevice{listed.out.linux().devices(0)};
  CHECK(rules(listed) == Texts{"allow r"});
}

TEST_CASE("nri: nodes without a device rule cannot be expressed") {
  const auto refused = Node{"v.com/c=unbuffered"}.inject();
  CAPTURE(refused);
  CHECK(refused.starts_with(
      "v.json:20:18: devices[8].containerEdits.deviceNodes: NRI cannot add a device node of type "
      "\"u\": "));
}

TEST_CASE("nri: names that NRI takes for removals are refused") {
  for (const std::string name : {"env", "mount", "node", "net"}) {
    Node node{"v.com/c=minus-" + name};
    const auto refused = node.inject();
    CAPTURE(refused);
    CHECK(refused.starts_with("v.json:2"));
    CHECK(refused.find(": NRI would take \"-") != std::string::npos);
  }
}

TEST_CASE("nri: an old NRI cannot deny writing") {
  Node node{"v.com/c=read"};
  node.around.runtime = {};
  const auto old = node.inject();
  CAPTURE(old);
  CHECK(
      old.starts_with("v.json:9:18: devices[1].containerEdits.deviceNodes: the NRI of this runtime "
                      "would allow more than \"r\" for the device node: "));
  Node other{"v.com/c=make"};
  other.around.runtime = {};
  CHECK(other.inject() == "edits");
  CHECK(other.out.linux().resources().devices_size() == 0);
}

TEST_CASE("nri: groups cannot be expressed, unless the process is in them") {
  Node node{"v.com/c=group"};
  const auto refused = node.inject();
  CAPTURE(refused);
  CHECK(refused.starts_with(
      "v.json:14:56: devices[4].containerEdits.additionalGids: NRI cannot add a "
      "group to a container: "));
  node.request.mutable_container()->mutable_user()->add_additional_gids(44);
  CHECK(node.inject() == "edits");
}

TEST_CASE("nri: --resolve never is advised only where the runtime injects names") {
  for (const std::string name : {"group", "unbuffered", "net", "rdt"}) {
    CAPTURE(name);
    Node node{"v.com/c=" + name};
    node.around.settings.resolve = "always";
    node.around.runtime = {};
    CHECK(node.inject().find("request the device in the CRI field") != std::string::npos);
    CHECK(node.inject().find("--resolve never") == std::string::npos);
    node.around.runtime.injects_names = true;
    CHECK(node.inject().find("--resolve never") != std::string::npos);
  }
}

TEST_CASE("nri: network devices and Intel RDT settings need NRI 0.11") {
  Node net{"v.com/c=net"};
  CHECK(net.inject() == "edits");
  CHECK(net.out.linux().net_devices().at("eth7").name() == "net1");
  net.around.runtime.has_net_devices = false;
  CHECK(net.inject().find("does not know a network device") != std::string::npos);
  Node rdt{"v.com/c=rdt"};
  CHECK(rdt.inject() == "edits");
  CHECK(rdt.out.linux().rdt().clos_id().value() == "gold");
  CHECK(rdt.out.linux().rdt().schemata().value(0) == "L3:0=f");
  Node all{"v.com/c=rdt-all"};
  REQUIRE(all.inject() == "edits");
  const auto& message = all.out.linux().rdt();
  CHECK_FALSE(message.has_clos_id());
  CHECK(Texts(message.schemata().value().begin(), message.schemata().value().end()) ==
        Texts{"L3:0=f", "MB:0=10", "L2:0=1"});
  CHECK(message.enable_monitoring().value());
  Node monitor{"v.com/c=rdt-monitor"};
  REQUIRE(monitor.inject() == "edits");
  CHECK_FALSE(monitor.out.linux().rdt().has_schemata());
  rdt.around.runtime.has_net_devices = false;
  CHECK(rdt.inject().find("does not know Intel RDT settings") != std::string::npos);
}

TEST_CASE("nri: an unknown device is an error with the file of its kind") {
  Node node{"v.com/c=nope"};
  CHECK(node.inject().starts_with("v.json: cannot resolve \"v.com/c=nope\": "));
}

TEST_CASE("nri: an error names the file that causes it, among others") {
  Node node{"w.com/c=0"};
  node.dir.put("w.json", R"({"cdiVersion": "0.7.0", "kind": "w.com/c",
"containerEdits": {"additionalGids": [44]}, "devices": [{"name": "0", "containerEdits": {"env": ["A=1"]}}]})");
  CHECK(node.inject().find(": containerEdits.additionalGids: ") != std::string::npos);
  node.request.mutable_pod()->mutable_annotations()->at("cdi.k8s.io/pod") = "w.com/c=1";
  CHECK(node.inject().starts_with("w.json: cannot resolve \"w.com/c=1\": "));
}

TEST_CASE("nri: of many unknown devices, the first ten are named") {
  std::string names = "v.com/c=all";
  for (int i = 10; i < 1000; ++i) names.append(",v.com/c=").append(std::to_string(i));
  const auto refused = Node{names}.inject();
  CHECK(refused.find("v.com/c=19\"") != std::string::npos);
  CHECK(refused.find("v.com/c=20\"") == std::string::npos);
  CHECK(refused.ends_with("; and 980 more"));
}

TEST_CASE("nri: only pods of the allowed namespaces may ask") {
  Node node{"v.com/c=all"};
  node.around.settings.namespaces = {"gpu-*", "kube-system"};
  CHECK(node.inject() ==
        "pods of the namespace \"team\" may not request devices by annotation; on this node, pods "
        "of gpu-*, kube-system may");
  node.around.settings.namespaces = {"te*"};
  CHECK(node.inject() == "edits");
  Node other{""};
  other.around.settings.namespaces = {"gpu-*"};
  CHECK(other.inject().empty());
}

TEST_CASE("nri: a policy decides, and what it has checked is injected") {
  Node node{"v.com/c=all"};
  node.around.runtime.injects_names = true;
  node.dir.put("policy", R"({"rules": [{"name": "r", "allow": true, "edits": {"hooks": []}}]})");
  node.around.settings.policy = node.dir.path() + "/policy";
  const auto denied = node.inject();
  CAPTURE(denied);
  CHECK(denied.find("by the rule \"r\": runs the hook") != std::string::npos);
  node.dir.put("policy", R"({"rules": [{"name": "r", "allow": true}]})");
  CHECK(node.inject() == "edits");
  CHECK(node.out.hooks().create_container(0).env_size() == 1);
  (*node.request.mutable_container()->mutable_annotations())["cdi.k8s.io/own"] = "x";
  CHECK(node.inject().find("cdi.k8s.io/own") != std::string::npos);
  node.request.mutable_container()->clear_annotations();
  node.dir.put("policy", "{");
  CHECK(node.inject().starts_with("policy:1:2: "));
}

TEST_CASE("nri: a pod with very many variables does not hold up the others") {
  // Takes minutes if each variable is compared with each.
  Node node{"v.com/c=all"};
  auto& container = *node.request.mutable_container();
  container.add_env("B=old");
  for (int i = 0; i < 50'000; ++i) container.add_env("A" + std::to_string(i) + "=");
  CHECK(node.inject() == "edits");
  CHECK(node.out.env_size() == 2);
  CHECK(nri::lacking_devices(node.request.pod(), container, node.around));
}

TEST_CASE("nri: a device that the container already has is not injected again") {
  Node node{"v.com/c=all,v.com/c=block"};
  REQUIRE(node.inject() == "edits");
  auto& container = *node.request.mutable_container();
  container.mutable_hooks()->CopyFrom(node.out.hooks());
  for (const auto& mount : node.out.mounts()) *container.add_mounts() = mount;
  container.mutable_linux()->add_devices()->CopyFrom(node.out.linux().devices(0));
  container.mutable_linux()->mutable_devices(0)->mutable_uid()->set_value(1000);  // of its user
  container.add_env("A=1");
  for (const bool names : {true, false}) {
    node.around.runtime.injects_names = names;
    CHECK(node.inject() == (names ? "names" : "edits"));
    CHECK(node.names() == (names ? Texts{"v.com/c=all", "v.com/c=block"} : Texts{}));
  }
  container.add_env("B=of another device");
  for (const bool names : {true, false}) {
    node.around.runtime.injects_names = names;
    CHECK(node.inject() == (names ? "names" : "edits"));
    CHECK(node.names() == (names ? Texts{"v.com/c=block"} : Texts{}));
    CHECK(node.out.hooks().create_container_size() == 0);
  }
}

TEST_CASE("nri: a container's own annotations that were handled request nothing") {
  Node node{""};
  node.around.settings.namespaces = {"gpu-*"};
  auto& container = *node.request.mutable_container();
  (*container.mutable_annotations())["cdi.k8s.io/plugin"] = "v.com/c=block";
  CHECK(node.inject().starts_with("pods of the namespace"));
  container.mutable_linux()->add_devices()->set_path("/dev/b");
  CHECK(node.inject().starts_with("pods of the namespace"));  // another node
  auto& device = *container.mutable_linux()->mutable_devices(0);
  device.set_type("b");
  device.set_major(9);
  device.set_minor(1);
  CHECK(node.inject().empty());
  CHECK(node.out.ByteSizeLong() == 0);
}

TEST_CASE("nri: a running container that lacks its devices is found") {
  Node node{"v.com/c=all"};
  auto& container = *node.request.mutable_container();
  const auto lacking = nri::lacking_devices(node.request.pod(), container, node.around);
  REQUIRE(lacking);
  CHECK(lacking->names == Texts{"v.com/c=all"});
  CHECK_FALSE(lacking->why);
  container.add_env("A=1");
  CHECK_FALSE(nri::lacking_devices(node.request.pod(), container, node.around));
}

TEST_CASE("nri: why it cannot be told whether a running container lacks devices") {
  const auto why = [](const std::string& devices) {
    const Node node{devices};
    const auto lacking =
        nri::lacking_devices(node.request.pod(), node.request.container(), node.around);
    REQUIRE(lacking);
    REQUIRE(lacking->why);
    return to_string(*lacking->why);
  };
  CHECK(why("v.com/c=none").find("cannot resolve \"v.com/c=none\"") != std::string::npos);
  CHECK(why("no name").find("no name") != std::string::npos);
}

TEST_CASE("nri: a running container is not blamed for what NRI cannot give") {
  const auto lacks = [](const Node& node) {
    return nri::lacking_devices(node.request.pod(), node.request.container(), node.around)
        .has_value();
  };
  CHECK_FALSE(lacks(Node{"v.com/c=unbuffered"}));
  Node group{"v.com/c=group"};
  CHECK_FALSE(lacks(group));
  group.request.mutable_container()->mutable_user()->add_additional_gids(44);
  CHECK_FALSE(lacks(group));
}

TEST_CASE("nri: of the pods that ask, only what matters is kept") {
  Node node{"v.com/c=all"};
  (*node.request.mutable_pod()->mutable_annotations())["other"] = "x";
  nri::ExistingPods existing;
  std::vector<nri::PodSandbox> pods;
  const auto keep = [&pods](const nri::PodSandbox& pod, const nri::Container&) {
    pods.push_back(pod);
  };
  auto& container = *node.request.mutable_container();
  existing.add(node.request.pod(), node.around.families);
  existing.add(container, keep);
  REQUIRE(pods.size() == 1);
  CHECK(pods[0].namespace_() == "team");
  CHECK(pods[0].annotations().at("cdi.k8s.io/pod") == "v.com/c=all");
  CHECK(pods[0].annotations().size() == 1);
  container.set_state(nri::CONTAINER_CREATED);
  existing.add(container, keep);
  CHECK(pods.size() == 2);
  container.set_state(nri::CONTAINER_STOPPED);
  existing.add(container, keep);
  container.set_state(nri::CONTAINER_RUNNING);
  container.set_pod_sandbox_id("other");
  existing.add(container, keep);
  CHECK(pods.size() == 2);
}

TEST_CASE("nri: an existing container that comes before its pod is reported at the end") {
  const Node node{"v.com/c=all"};
  const Node silent{""};
  for (const auto* pod : {&node.request.pod(), &silent.request.pod()}) {
    nri::ExistingPods existing;
    int reported = 0;
    const auto count = [&reported](const auto&, const auto&) {
      ++reported;
    };
    existing.add(node.request.container(), count);
    existing.add(*pod, node.around.families);
    CHECK(reported == 0);
    existing.end(count);
    CHECK(reported == (pod == &node.request.pod() ? 1 : 0));
    existing.end(count);
    CHECK(reported <= 1);
  }
}
