// The devices that a container has, judging by its edits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/cache.hpp>

#include "../../../tools/nri/adjustment.hpp"
#include "../../support/temp_tree.hpp"

namespace {

/// A host with a spec, whose device 0 has the edits.
struct Given {
  TempTree dir{};
  nri::Container container{};

  explicit Given(const std::string& edits, const std::string& of_spec = "{}") {
    dir.put("v.json", R"({"cdiVersion": "1.1.0", "kind": "v.com/c", "containerEdits": )" + of_spec +
                          R"(, "devices": [{"name": "0", "containerEdits": )" + edits + "}]}");
  }

  bool includes() const {
    cdi::Cache cache{{dir.path()}};
    const auto registry = cache.registry();
    const auto found = registry->find("v.com/c=0");
    REQUIRE(found.device != nullptr);
    return nri::has_device(container, found, {});
  }

  nri::LinuxDevice& add_node(const std::string& path, int minor) {
    auto& node = *container.mutable_linux()->add_devices();
    node.set_path(path);
    node.set_type("c");
    node.set_major(200);
    node.set_minor(minor);
    return node;
  }
};

constexpr const char* node_edits =
    R"({"env": ["GPU=0"], "deviceNodes": [{"path": "/dev/v", "type": "c", "major": 200, "minor": 7}]})";

}  // namespace

TEST_CASE("nri: a container has a device if it has each of its edits") {
  Given given{node_edits};
  CHECK_FALSE(given.includes());
  given.container.add_env("GPU=0");
  CHECK_FALSE(given.includes());
  given.add_node("/dev/v", 8);  // another device
  CHECK_FALSE(given.includes());
  given.add_node("/dev/v", 7);
  CHECK(given.includes());
}

TEST_CASE("nri: another device may have changed the value of a variable or the owner of a node") {
  Given given{node_edits};
  given.add_node("/dev/v", 7).mutable_uid()->set_value(1000);
  CHECK_FALSE(given.includes());
  given.container.add_env("GPU=1");
  CHECK(given.includes());
}

TEST_CASE("nri: without other edits, the value of a variable counts") {
  Given given{R"({"env": ["GPU=0"]})"};
  given.container.add_env("GPU=1");
  CHECK_FALSE(given.includes());
  given.container.add_env("GPU=0");
  CHECK(given.includes());
}

TEST_CASE("nri: edits of the whole spec belong to each device") {
  Given given{R"({"env": ["GPU=0"]})",
              R"({"mounts": [{"hostPath": "/h", "containerPath": "/m"}]})"};
  given.container.add_env("GPU=0");
  CHECK_FALSE(given.includes());
  auto& mount = *given.container.add_mounts();
  mount.set_destination("/m");
  mount.set_source("/other");
  CHECK_FALSE(given.includes());
  mount.set_source("/h");
  CHECK(given.includes());
}

TEST_CASE("nri: what another device of the spec has brought is not enough") {
  const std::string of_spec = R"({"mounts": [{"hostPath": "/h", "containerPath": "/m"}]})";
  for (const std::string own :
       {R"({"env": ["GPU=1"]})",
        R"({"env": ["GPU=1"], "mounts": [{"hostPath": "/h", )"
        R"("containerPath": "/m"}]})",
        R"({"additionalGids": [44]})",
        R"({"netDevices": [{"hostInterfaceName": "eth1", "name": "eth1"}]})"}) {
    CAPTURE(own);
    Given given{own, of_spec};
    given.container.add_env("GPU=0");
    auto& mount = *given.container.add_mounts();
    mount.set_destination("/m");
    mount.set_source("/h");
    CHECK_FALSE(given.includes());
  }
}

TEST_CASE("nri: a hook is known by its point, its path and its arguments") {
  const auto hooks_at = [](nri::Hooks& hooks, const std::string& point) {
    if (point == "prestart") return hooks.mutable_prestart();
    if (point == "createRuntime") return hooks.mutable_create_runtime();
    if (point == "createContainer") return hooks.mutable_create_container();
    if (point == "startContainer") return hooks.mutable_start_container();
    if (point == "poststart") return hooks.mutable_poststart();
    return hooks.mutable_poststop();
  };
  const std::vector<std::string> points{"prestart",       "createRuntime", "createContainer",
                                        "startContainer", "poststart",     "poststop"};
  for (const auto& wanted : points) {
    for (const auto& point : points) {
      CAPTURE(wanted);
      CAPTURE(point);
      Given given{R"({"hooks": [{"path": "/h", "args": ["h", "a"], "hookName": ")" + wanted +
                  "\"}]}"};
      auto& hook = *hooks_at(*given.container.mutable_hooks(), point)->Add();
      hook.set_path("/h");
      hook.add_args("h");
      CHECK_FALSE(given.includes());
      hook.add_args("a");
      CHECK(given.includes() == (point == wanted));
    }
  }
}

TEST_CASE("nri: a device without edits that NRI always shows may be missing") {
  Given given{R"({"additionalGids": [44]})"};
  given.container.mutable_user()->add_additional_gids(44);
  CHECK_FALSE(given.includes());
  Given gone{R"({"env": ["GPU=0"], "deviceNodes": [{"path": "/dev/not-on-this-host"}]})"};
  gone.container.add_env("GPU=0");
  CHECK_FALSE(gone.includes());
}
