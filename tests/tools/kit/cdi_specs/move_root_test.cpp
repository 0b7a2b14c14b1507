// Tests for tools/kit/cdi_specs/move_root.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/move_root.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/rules/validate.hpp>

namespace {

using tools::PathsOf;

/// A spec with one device, which has these edits, too.
cdi::Spec spec_with(const cdi::ContainerEdits& edits) {
  return {.version = "0.3.0",
          .kind = "vendor.com/gpu",
          .devices = {{.name = "d", .container_edits = edits}},
          .container_edits = edits};
}

/// The host path after a move.
std::string moved(const std::string& path, const std::string& from, const std::string& to) {
  auto spec = spec_with({.mounts = {{.host_path = path, .container_path = "/c"}}});
  const auto changed = tools::move_root(spec, from, to);
  REQUIRE(changed);
  const auto result = spec.container_edits.mounts[0].host_path;
  CHECK(spec.devices[0].container_edits.mounts[0].host_path == result);
  CHECK(*changed == (result == path ? 0 : 2));
  return result;
}

cdi::Hook hook_at(const std::string& point) {
  return {.hook_name = point,
          .path = "/from/bin/hook",
          .args = {"hook", "--link", "/from/a::/from/b", "../c::/from/d", "/from", "--x=/from/e",
                   "/fromage"}};
}

}  // namespace

TEST_CASE("A path is moved if it is the root or below it, part by part") {
  CHECK(moved("/run/driver/lib/a", "/run/driver", "/") == "/lib/a");
  CHECK(moved("/run/driver/lib/a", "/run/driver/", "/opt/d/") == "/opt/d/lib/a");
  CHECK(moved("/run/driver", "/run/driver", "/") == "/");
  CHECK(moved("/run/driver", "/run/driver", "/x") == "/x");
  CHECK(moved("/run/drivers", "/run/driver", "/x") == "/run/drivers");
  CHECK(moved("/run", "/run/driver", "/x") == "/run");
  CHECK(moved("/run/driver/../a", "/run/driver", "/x") == "/run/driver/../a");
  CHECK(moved("//run/./driver//a", "/run/driver", "/x") == "/x/a");
  CHECK(moved("run/driver/a", "/run/driver", "/x") == "run/driver/a");
  CHECK(moved("/a", "/", "/host") == "/host/a");
  CHECK(moved("/", "/", "/host") == "/host");
  CHECK(moved("/a//b", "/", "/") == "/a/b");
  CHECK(moved("/a", "/a", "/a") == "/a");
}

TEST_CASE("A device node keeps its device, and needs hostPath only if its paths differ") {
  auto spec = spec_with({.device_nodes = {{.path = "/dev/a"}, {.path = "/other/b"}}});
  REQUIRE(tools::move_root(spec, "/dev", "/host/dev"));
  const auto& nodes = spec.container_edits.device_nodes;
  CHECK(nodes[0] == cdi::DeviceNode{.path = "/dev/a", .host_path = "/host/dev/a"});
  CHECK(nodes[1] == cdi::DeviceNode{.path = "/other/b"});
  CHECK(spec.version == "0.5.0");
  CHECK(cdi::validate(spec));

  REQUIRE(tools::move_root(spec, "/host", "/"));
  CHECK(nodes[0] == cdi::DeviceNode{.path = "/dev/a"});

  REQUIRE(tools::move_root(spec, "/dev", "/in", PathsOf::container));
  CHECK(nodes[0] == cdi::DeviceNode{.path = "/in/a", .host_path = "/dev/a"});
}

TEST_CASE("A newer version stays, and so does one if nothing is moved") {
  auto spec = spec_with({.device_nodes = {{.path = "/dev/a"}}});
  CHECK(*tools::move_root(spec, "/sys", "/host/sys") == 0);
  CHECK(spec.version == "0.3.0");
  spec.version = "0.8.0";
  CHECK(*tools::move_root(spec, "/dev", "/host/dev") == 2);
  CHECK(spec.version == "0.8.0");
}

TEST_CASE("Container paths of mounts are moved only when asked") {
  auto spec = spec_with({.mounts = {{.host_path = "/a", .container_path = "/a"}}});
  REQUIRE(tools::move_root(spec, "/a", "/b", PathsOf::container));
  CHECK(spec.container_edits.mounts[0].host_path == "/a");
  CHECK(spec.container_edits.mounts[0].container_path == "/b");
}

TEST_CASE("Programs and arguments of hooks are moved where they are used") {
  const std::vector<std::string> arguments{"hook", "--link",      "/to/a::/to/b", "../c::/to/d",
                                           "/to",  "--x=/from/e", "/fromage"};
  struct Row {
    std::string point;
    PathsOf program;
    PathsOf arguments;
  };
  for (const auto& row : {
           Row{"createRuntime", PathsOf::host, PathsOf::host},
           Row{"prestart", PathsOf::host, PathsOf::host},
           Row{"poststop", PathsOf::host, PathsOf::host},
           Row{"createContainer", PathsOf::host, PathsOf::container},
           Row{"startContainer", PathsOf::container, PathsOf::container},
       }) {
    const auto& point = row.point;  // no binding: CAPTURE makes a lambda
    CAPTURE(point);
    for (const auto paths : {PathsOf::host, PathsOf::container}) {
      auto spec = spec_with({.hooks = {hook_at(point)}});
      REQUIRE(tools::move_root(spec, "/from", "/to", paths));
      const auto& hook = spec.devices[0].container_edits.hooks[0];
      CHECK(hook.path == (paths == row.program ? "/to/bin/hook" : "/from/bin/hook"));
      CHECK(hook.args == (paths == row.arguments ? arguments : hook_at(point).args));
    }
  }
}

TEST_CASE("A root that is not an absolute path is refused, and nothing is changed") {
  auto spec = spec_with({.mounts = {{.host_path = "/a", .container_path = "/a"}}});
  const auto before = spec;
  for (const auto& [from, to] : {std::pair{"a", "/b"}, {"/a", "b"}, {"", "/b"}, {"/a", ""}}) {
    CHECK(tools::move_root(spec, from, to).error().code == cdi::Errc::invalid);
  }
  CHECK(spec == before);
}
