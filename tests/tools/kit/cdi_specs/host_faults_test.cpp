// What specs need, and the host does not have.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/host_faults.hpp"

#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/spec_text.hpp>

#include "../../../support/made_up_host.hpp"

namespace {

using Effect = tools::HostFault::Effect;

/// A host with two nodes, a library, a program, and a directory for a file.
struct DeviceHost : MadeUpHost {
  DeviceHost() {
    put("dev.tab", "/dev/a c 10 0 0666 0 0\n/dev/b b 8 1 0660 0 6\n");
    put("usr/lib.so", "");
    put("usr/bin/hook", "");
    REQUIRE(::chmod((*this / "usr/bin/hook").c_str(), 0755) == 0);
    put("root/file", "");
  }
};

/// `EFFECT: MESSAGE`, or nothing.
template <class Edit>
std::string fault(const tools::HostTree& tree, const Edit& edit) {
  const auto found = tools::host_fault(tree, edit);
  if (!found) return {};
  const auto* const effect = found->effect == Effect::fails      ? "fails: "
                             : found->effect == Effect::may_fail ? "may fail: "
                                                                 : "unknown: ";
  return effect + found->error.message;
}

}  // namespace

TEST_CASE("Nodes are there as the spec has them") {
  const DeviceHost host;
  const auto tree = host.tree();
  const auto fault = [&](const cdi::DeviceNode& node) {
    return ::fault(tree, node);
  };
  CHECK(fault({.path = "/dev/a", .type = "c", .major = 10}) == "");
  CHECK(fault({.path = "/dev/a", .type = "u", .major = 10}) == "");
  CHECK(fault({.path = "/dev/b", .type = "b", .major = 8, .minor = 1}) == "");
  CHECK(fault({.path = "/dev/a"}) == "");
  CHECK(fault({.path = "/dev/x", .host_path = "/dev/a"}) == "");
  CHECK(fault({.path = "/dev/x", .type = "p"}) == "");
  CHECK(fault({.path = "/dev/a", .type = "c", .major = 10, .minor = 1}) ==
        "fails: host device \"/dev/a\" is c 10:0, not c 10:1");
  CHECK(fault({.path = "/dev/a", .major = 11}) ==
        "fails: host device \"/dev/a\" is c 10:0, not c 11:0");
  CHECK(fault({.path = "/dev/a", .type = "b", .major = 10}) ==
        "fails: host device \"/dev/a\" is c 10:0, not b 10:0");
  CHECK(fault({.path = "/dev/x"}) == "fails: device node \"/dev/x\" is missing");
  CHECK(fault({.path = "/dev/a", .host_path = "/dev/x"}) ==
        "fails: device node \"/dev/x\" is missing");
  // A runtime makes it from its numbers.
  CHECK(fault({.path = "/dev/x", .type = "c", .major = 10, .minor = 7}) ==
        "may fail: device node \"/dev/x\" is missing; the container gets a node with the numbers "
        "of the "
        "spec, which may belong to no device");
}

TEST_CASE("A path that is not a device node is not one of the host") {
  const MadeUpHost host;
  host.put("dev/a", "");
  CHECK(fault(host.tree(), cdi::DeviceNode{.path = "/dev/a"}) ==
        "fails: \"/dev/a\" is not a device node");
}

TEST_CASE("A FIFO of the host is a node, unless the spec has another type") {
  const MadeUpHost host;
  const std::string path = host / "fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  host.link("fifo", "link");
  const auto fault = [&](std::string from, std::string type) {
    return ::fault(
        host.tree(),
        cdi::DeviceNode{.path = "/dev/f", .host_path = std::move(from), .type = std::move(type)});
  };
  CHECK(fault("/fifo", "") == "");
  CHECK(fault("/fifo", "p") == "");
  CHECK(fault("/fifo", "c") == "fails: \"/fifo\" is not a device node");
  CHECK(fault("/link", "") == "fails: \"/link\" is not a device node");
}

TEST_CASE("Mount sources are there, unless a file system has another source") {
  const DeviceHost host;
  const auto tree = host.tree();
  using Options = std::vector<std::string>;
  const auto fault = [&](std::string path, Options options, std::string type = {}) {
    return ::fault(tree, cdi::Mount{.host_path = path,
                                    .container_path = "/c",
                                    .options = std::move(options),
                                    .type = std::move(type)});
  };
  CHECK(fault("/usr/lib.so", {"ro", "bind"}) == "");
  CHECK(fault("/usr/lib.so", {"rbind"}, "tmpfs") == "");
  CHECK(fault("/usr/gone.so", {"rbind"}, "tmpfs") ==
        "fails: mount source \"/usr/gone.so\" is missing");
  CHECK(fault("/usr/lib.so/x", {"bind"}) == "fails: mount source \"/usr/lib.so/x\" is missing");
  CHECK(fault("/tmpfs", {"ro"}, "tmpfs") == "");
  CHECK(fault("relative", {"bind"}) == "");
  for (const auto* const type : {"", "none", "bind"}) {
    CHECK(fault("/usr/lib.so", {"ro"}, type) ==
          "may fail: mount of \"/usr/lib.so\" has neither \"bind\" nor \"rbind\" in its options, "
          "and runc fails to mount it: add one of them");
    CHECK(fault("/usr/gone.so", {}, type) == "fails: mount source \"/usr/gone.so\" is missing");
  }
}

TEST_CASE("Programs of hooks are there and executable") {
  const DeviceHost host;
  const auto tree = host.tree();
  CHECK(fault(tree, cdi::Hook{.path = "/usr/bin/hook"}) == "");
  CHECK(fault(tree, cdi::Hook{.path = "/usr/bin/gone"}) ==
        "fails: hook program \"/usr/bin/gone\" is missing");
  for (const auto* const path : {"/usr/lib.so", "/usr"}) {
    CHECK(fault(tree, cdi::Hook{.path = path}) ==
          "fails: hook program \"" + std::string{path} + "\" is not executable");
  }
}

TEST_CASE("The program of a startContainer hook is in the container") {
  const DeviceHost host;
  CHECK(fault(host.tree(), cdi::Hook{.hook_name = "startContainer", .path = "/usr/bin/gone"}) ==
        "");
  CHECK(fault(host.tree(), cdi::Hook{.hook_name = "createContainer", .path = "/usr/bin/gone"}) ==
        "fails: hook program \"/usr/bin/gone\" is missing");
}

TEST_CASE("A loop of links is not called missing") {
  const DeviceHost host;
  host.link("loop.so", "usr/loop.so");
  CHECK(fault(host.tree(), cdi::Mount{.host_path = "/usr/loop.so", .options = {"bind"}}) ==
        "fails: mount source \"/usr/loop.so\": Too many levels of symbolic links");
}

TEST_CASE("What this process may not look at is not called missing") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const DeviceHost host;
  const auto tree = host.tree();
  REQUIRE(::chmod((host / "root").c_str(), 0) == 0);
  for (const auto* const path : {"/root/file", "/root/gone"}) {
    const auto quoted = "\"" + std::string{path} + "\"";
    CHECK(fault(tree, cdi::Mount{.host_path = path, .options = {"bind"}}) ==
          "unknown: mount source " + quoted + " cannot be checked: Permission denied");
    CHECK(fault(tree, cdi::Hook{.path = path}) ==
          "unknown: hook program " + quoted + " cannot be checked: Permission denied");
  }
  REQUIRE(::chmod((host / "root").c_str(), 0700) == 0);
}

TEST_CASE("Faults have places in the file") {
  const DeviceHost host;
  const auto spec = cdi::parse_spec(R"(cdiVersion: 0.6.0
kind: vendor.com/gpu
containerEdits:
  hooks:
  - {hookName: prestart, path: /usr/bin/gone}
devices:
- name: a
  containerEdits:
    deviceNodes:
    - path: /dev/a
    - path: /dev/x
    mounts:
    - {hostPath: /gone, containerPath: /c, options: [bind]}
)",
                                    "/etc/cdi/v.yaml", cdi::Format::yaml);
  REQUIRE(spec);
  std::vector<std::string> texts;
  const auto tree = host.tree();
  for (const auto& fault : tools::all_host_faults(tree, *spec)) {
    texts.push_back(to_string(fault.error));
  }
  CHECK(texts == std::vector<std::string>{
                     "/etc/cdi/v.yaml:5:5: containerEdits.hooks[0]: hook program "
                     "\"/usr/bin/gone\" is missing",
                     "/etc/cdi/v.yaml:11:7: devices[0].containerEdits.deviceNodes[1]: device node "
                     "\"/dev/x\" is missing",
                     "/etc/cdi/v.yaml:13:7: devices[0].containerEdits.mounts[0]: mount source "
                     "\"/gone\" is missing"});
}
