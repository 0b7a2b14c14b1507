// Tests for include/cdi/versions/to_version.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/versions/to_version.hpp>
#include <cdi/versions/to_version.inl>

#include "../rules/converted_specs.hpp"

namespace {

using cdi::Losses;
using cdi::SpecVersion;

std::vector<SpecVersion> named_versions() {
  return {std::find(cdi::known_versions.begin(), cdi::known_versions.end(), SpecVersion{}),
          cdi::known_versions.end()};
}

TEST_CASE(
    "A spec is valid in every version it is converted to, and converting it again changes "
    "nothing") {
  REQUIRE(cdi::validate(everything()));
  for (const SpecVersion version : named_versions()) {
    CAPTURE(to_string(version));
    const auto once = cdi::to_version(everything(), version, Losses::allow);
    REQUIRE_MESSAGE(once, to_string(once.error()));
    CHECK(once->spec.version == to_string(version));
    CHECK(cdi::validate(once->spec));
    CHECK(cdi::minimum_version(once->spec) <= version);
    CHECK(once->losses.empty() == (version == cdi::current_version));
    CHECK(converted(once->spec, version) == once->spec);
  }
}

TEST_CASE("The older the version, the more is lost, and what was lost stays lost") {
  std::size_t lost = 0;
  auto versions = named_versions();
  std::reverse(versions.begin(), versions.end());
  for (const SpecVersion version : versions) {
    const auto now = losses(everything(), version).size();
    CHECK(now >= lost);
    lost = now;
  }
  CHECK(lost == 15);
}

TEST_CASE("What every version has stays as it is") {
  const cdi::Spec spec = spec_with({
      .device_nodes = {{.path = "/a",
                        .type = "c",
                        .major = 1,
                        .minor = 2,
                        .file_mode = 0600,
                        .permissions = "none",
                        .uid = 1,
                        .gid = 2}},
      .hooks = {{.hook_name = "prestart",
                 .path = "/h",
                 .args = {"h", ""},
                 .env = {"A=1"},
                 .timeout = 3}},
      .mounts = {{.host_path = "/a", .container_path = "/b", .options = {"ro"}}},
  });
  for (const SpecVersion version : named_versions()) {
    cdi::Spec expected = spec;
    expected.version = to_string(version);
    CHECK(converted(spec, version) == expected);
  }
}

TEST_CASE("Each field goes below the version that brought it") {
  struct Row {
    cdi::ContainerEdits edits;
    SpecVersion since;
    SpecVersion before;
    std::string where;
    std::string what;
  };
  cdi::IntelRdt limits;
  limits.schemata = std::vector<std::string>{"L3:0=f"};
  const std::vector<Row> rows{
      {{.mounts = {{.host_path = "/h", .container_path = "/c", .type = "tmpfs"}}},
       {0, 4, 0},
       {0, 3, 0},
       "mounts[0].type",
       R"(type "tmpfs" (since 0.4.0))"},
      {{.device_nodes = {{.path = "/dev/a"}, {.path = "/dev/a", .host_path = "/dev/b"}}},
       {0, 5, 0},
       {0, 4, 0},
       "deviceNodes[1].hostPath",
       R"(hostPath "/dev/b" (since 0.5.0))"},
      {{.intel_rdt = cdi::IntelRdt{.clos_id = "a"}},
       {0, 7, 0},
       {0, 6, 0},
       "intelRdt",
       R"(intelRdt {closID: "a"} (since 0.7.0))"},
      {{.intel_rdt = cdi::IntelRdt{}},
       {0, 7, 0},
       {0, 6, 0},
       "intelRdt",
       "intelRdt {} (since 0.7.0)"},
      {{.additional_gids = {44, 992}},
       {0, 7, 0},
       {0, 6, 0},
       "additionalGids",
       "additionalGids [44, 992] (since 0.7.0)"},
      {{.net_devices = {{.host_interface_name = "eth1", .name = "net0"}}},
       {1, 1, 0},
       {1, 0, 0},
       "netDevices",
       R"(netDevices [{hostInterfaceName: "eth1", name: "net0"}] (since 1.1.0))"},
      {{.intel_rdt = limits},
       {1, 1, 0},
       {1, 0, 0},
       "intelRdt.schemata",
       R"(schemata ["L3:0=f"] (since 1.1.0))"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where);
    cdi::Spec spec = spec_with(row.edits);
    spec.container_edits = row.edits;
    cdi::Spec kept = converted(spec, row.since);
    CHECK(kept.container_edits == row.edits);
    CHECK(kept.devices == spec.devices);
    const auto lost = losses(spec, row.before);
    REQUIRE(lost.size() == 2);
    CHECK(lost[0].where == "devices[0].containerEdits." + row.where);
    CHECK(lost[1].where == "containerEdits." + row.where);
    CHECK(lost[0].what == row.what);
    CHECK_FALSE(lost[0].breaks.empty());
  }
}

TEST_CASE("Without schemata, the class of a container is no longer created") {
  const auto lost = losses(
      spec_with({.intel_rdt = cdi::IntelRdt{.clos_id = "a", .schemata = {{"L3:0=f"}}}}), {1, 0, 0});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].breaks.find("runtimes reject a closID that does not exist") != std::string::npos);
}

TEST_CASE("Annotations are lost below 0.6.0, and nothing changes in the container") {
  cdi::Spec spec = spec_with({});
  spec.annotations = {{"a", "1"}, {"b", "2"}};
  spec.devices[0].annotations = {{"c", "3"}};
  CHECK(converted(spec, {0, 6, 0}).annotations == spec.annotations);
  const auto lost = losses(spec, {0, 5, 0});
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].where == "annotations");
  CHECK(lost[0].what == R"(annotations {a: "1", b: "2"} (since 0.6.0))");
  CHECK(lost[0].breaks.find("nothing changes in the container") == 0);
  CHECK(lost[1].where == "devices[0].annotations");
}

TEST_CASE("In its own version, a spec stays as it is") {
  CHECK(converted(everything(), {1, 1, 0}) == everything());
}

TEST_CASE("A spec is raised without change but for its version") {
  const cdi::Spec old =
      spec_with({.mounts = {{.host_path = "/h", .container_path = "/c"}}}, "0.3.0");
  cdi::Spec expected = old;
  expected.version = "1.1.0";
  CHECK(converted(old, {1, 1, 0}) == expected);
}

TEST_CASE("When anything is lost, the spec is refused, unless losses are allowed") {
  cdi::Spec spec = spec_with({.additional_gids = {44}});
  CHECK(rejected(spec, {0, 6, 0}) ==
        "devices[0].containerEdits.additionalGids: additionalGids [44] (since 0.7.0) is lost: a "
        "process that is not root may lack the groups that open the devices");
  spec.annotations = {{"a", "1"}};
  CHECK(rejected(spec, {0, 5, 0})
            .ends_with("miss them; also lost: devices[0].containerEdits.additionalGids"));
  CHECK(rejected(everything(), {0, 3, 0})
            .ends_with("; also lost: devices[0].annotations, "
                       "devices[0].containerEdits.deviceNodes[0].hostPath, "
                       "devices[0].containerEdits.netDevices, "
                       "devices[0].containerEdits.mounts[0].type and 10 more"));
  const auto done = cdi::to_version(spec, {0, 6, 0});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::unsupported);
}

TEST_CASE("A class with a dot cannot be converted to a version before 0.6.0 at all") {
  cdi::Spec spec = spec_with({});
  spec.kind = "v.com/gpu.x";
  CHECK(converted(spec, {0, 6, 0}).kind == spec.kind);
  CHECK(
      rejected(spec, {0, 5, 0}, Losses::allow) ==
      R"(kind: kind "v.com/gpu.x" has a dot in its class, which 0.5.0 does not allow: rename it, )"
      "or convert to 0.6.0 or newer");
}

TEST_CASE("A spec with no device left is refused, even when losses are allowed") {
  cdi::Spec spec = spec_with({});
  spec.annotations = {{"a", "1"}};
  spec.devices[0].name = "0";
  spec.devices.push_back({.name = "1", .container_edits = {.env = {"A=1"}}});
  for (const auto allowed : {Losses::reject, Losses::allow}) {
    CHECK(
        rejected(spec, {0, 4, 0}, allowed) ==
        R"(devices: 0.4.0 cannot express any of the devices; device "0" (names may begin with a digit )"
        R"(since 0.5.0: rename it, or convert to 0.5.0) is lost: "vendor.com/gpu=0" cannot be )"
        "requested");
  }
}

TEST_CASE("Versions that no spec can name are refused") {
  for (const SpecVersion version :
       {SpecVersion{0, 1, 0}, SpecVersion{0, 2, 0}, SpecVersion{0, 9, 0}, SpecVersion{1, 2, 0}}) {
    CHECK(rejected(spec_with({}), version, Losses::allow) ==
          "a spec cannot have CDI version " + to_string(version) +
              ": use one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0");
  }
}

TEST_CASE("An invalid spec is refused as it is") {
  cdi::Spec spec = everything();
  spec.devices[2].container_edits.net_devices[0].name.clear();
  CHECK(rejected(spec, {0, 4, 0}, Losses::allow)
            .starts_with("devices[2].containerEdits.netDevices[0].name: "));
  CHECK(rejected(spec_with({.additional_gids = {1}}, "0.6.0"), {0, 7, 0})
            .starts_with("cdiVersion: "));
}

TEST_CASE("Long values are cut, and stay on one line") {
  cdi::Spec spec = spec_with({});
  for (int i = 0; i < 100; ++i) {
    spec.annotations.emplace("key" + std::to_string(i), "line\n");
  }
  const auto lost = losses(spec, {0, 5, 0});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].what.size() < 250);
  CHECK(lost[0].what.find('\n') == std::string::npos);
  CHECK(lost[0].what.ends_with("... (since 0.6.0)"));
}

/// Holds what `Owning` does, and is another type: the library with the bodies has nothing for it.
struct Mine {
  using String = std::string;
  template <class T>
  using List = std::vector<T>;
  template <class T>
  using Dict = std::map<std::string, T, std::less<>>;
};

TEST_CASE("A storage of one's own is checked and converted by the bodies of to_version.hpp") {
  cdi::BasicSpec<Mine> spec{.version = "1.1.0", .kind = "vendor.com/gpu"};
  spec.devices.push_back({.name = "0", .container_edits = {.env = {"A=1"}}});
  CHECK(cdi::validate(spec));
  CHECK(cdi::minimum_version(spec) == SpecVersion{0, 5, 0});
  const auto done = cdi::to_version(spec, {0, 5, 0});
  REQUIRE(done);
  CHECK(done->spec.version == "0.5.0");
  CHECK(done->spec.devices[0].container_edits.env == std::vector<std::string>{"A=1"});
  spec.devices.clear();
  CHECK_FALSE(cdi::validate(spec));
}

}  // namespace
