// Tests for include/cdi/rules/minimum_version.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/validate.hpp>

namespace {

using cdi::SpecVersion;

cdi::Spec plain() {
  return {.version = "0.3.0",
          .kind = "vendor.com/gpu",
          .devices = {{.name = "a", .container_edits = {.env = {"A=1"}}},
                      {.name = "b", .container_edits = {.env = {"B=2"}}}}};
}

/// One feature of some edits, and the version that brought it.
struct Feature {
  cdi::ContainerEdits edits;
  SpecVersion since;
  std::string where;
};

cdi::IntelRdt empty_schemata() {
  cdi::IntelRdt rdt;
  rdt.schemata.emplace();
  return rdt;
}

const std::vector<Feature> features{
    {{.env = {"C=3"}}, {0, 3, 0}, ""},
    {{.device_nodes = {{.path = "/a", .file_mode = 0, .permissions = "none", .uid = 0, .gid = 0}}},
     {0, 3, 0},
     ""},
    {{.hooks = {{.hook_name = "prestart", .path = "/h", .timeout = 1}}}, {0, 3, 0}, ""},
    {{.mounts = {{.host_path = "/a", .container_path = "/b", .options = {"ro"}}}}, {0, 3, 0}, ""},
    {{.mounts = {{.host_path = "/a", .container_path = "/b"},
                 {.host_path = "/a", .container_path = "/b", .type = "bind"}}},
     {0, 4, 0},
     "mounts[1].type"},
    {{.device_nodes = {{.path = "/a"}, {.path = "/a", .host_path = "/b"}}},
     {0, 5, 0},
     "deviceNodes[1].hostPath"},
    {{.intel_rdt = cdi::IntelRdt{}}, {0, 7, 0}, "intelRdt"},
    {{.intel_rdt = cdi::IntelRdt{.clos_id = "a"}}, {0, 7, 0}, "intelRdt"},
    {{.additional_gids = {0}}, {0, 7, 0}, "additionalGids"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"}}}, {1, 1, 0}, "netDevices"},
    {{.intel_rdt = empty_schemata()}, {1, 1, 0}, "intelRdt.schemata"},
    {{.intel_rdt = cdi::IntelRdt{.enable_monitoring = true}},
     {1, 1, 0},
     "intelRdt.enableMonitoring"},
};

/// A spec needs exactly `since`: it is good then and refused one version before.
void check_need(cdi::Spec spec, SpecVersion since, const std::string& where) {
  CAPTURE(where);
  CHECK(cdi::minimum_version(spec) == since);
  CHECK(cdi::minimum_need(spec).where == where);
  for (const SpecVersion version : cdi::known_versions) {
    spec.version = to_string(version);
    CAPTURE(spec.version);
    const auto good = cdi::validate(spec);
    CHECK(good.has_value() == (version >= since));
    if (!good) {
      CHECK(good.error().where == "cdiVersion");
      CHECK(good.error().advice.ends_with("write \"" + to_string(since) + "\""));
    }
  }
}

TEST_CASE("a spec needs the version that brought what it uses, at the top or in any device") {
  for (const auto& [edits, since, where] : features) {
    cdi::Spec top = plain();
    top.container_edits = edits;
    check_need(top, since, where.empty() ? "" : "containerEdits." + where);

    cdi::Spec device = plain();
    device.devices[1].container_edits = edits;
    check_need(device, since, where.empty() ? "" : "devices[1].containerEdits." + where);
  }
}

TEST_CASE("annotations need 0.6.0") {
  cdi::Spec spec = plain();
  spec.annotations = {{"k", "v"}};
  check_need(spec, {0, 6, 0}, "annotations");
  spec = plain();
  spec.devices[1].annotations = {{"k", "v"}};
  check_need(spec, {0, 6, 0}, "devices[1].annotations");
}

TEST_CASE("a dot in the class needs 0.6.0, one in the vendor does not") {
  cdi::Spec spec = plain();
  spec.kind = "v.com/gpu.x";
  check_need(spec, {0, 6, 0}, "kind");
  spec.kind = "v.a.b.c/gpu";
  check_need(spec, {0, 3, 0}, "");
}

TEST_CASE("a device name that begins with a digit needs 0.5.0") {
  cdi::Spec spec = plain();
  spec.devices[1].name = "0a";
  check_need(spec, {0, 5, 0}, "devices[1].name");
  spec.devices[1].name = "a0";
  check_need(spec, {0, 3, 0}, "");
}

TEST_CASE("the newest of all needs counts, and the first member that has it") {
  cdi::Spec spec = plain();
  spec.devices[0].name = "0";
  spec.devices[0].container_edits.mounts = {
      {.host_path = "/a", .container_path = "/b", .type = "bind"}};
  check_need(spec, {0, 5, 0}, "devices[0].name");
  spec.annotations = {{"k", "v"}};
  spec.kind = "v/a.b";
  check_need(spec, {0, 6, 0}, "annotations");
  spec.devices[0].container_edits.additional_gids = {1};
  spec.devices[1].container_edits.additional_gids = {1};
  spec.container_edits.additional_gids = {1};
  check_need(spec, {0, 7, 0}, "devices[0].containerEdits.additionalGids");
  spec.container_edits.net_devices = {{.host_interface_name = "a", .name = "b"}};
  check_need(spec, {1, 1, 0}, "containerEdits.netDevices");
}

TEST_CASE("what is empty needs nothing") {
  CHECK(cdi::minimum_version(cdi::Spec{}) == SpecVersion{0, 3, 0});
  cdi::Spec spec = plain();
  spec.devices.push_back({});  // an empty name begins with nothing
  CHECK(cdi::minimum_version(spec) == SpecVersion{0, 3, 0});
  CHECK(cdi::minimum_version(cdi::SpecView{.kind = "a/b.c"}) == SpecVersion{0, 6, 0});
}

}  // namespace

static_assert(cdi::known_versions.back() == cdi::current_version);
static_assert(cdi::spec_versions.front() == SpecVersion{0, 3, 0});
static_assert(cdi::spec_versions.size() == cdi::known_versions.size() - 2);

TEST_CASE("Only known versions are parsed, with at most one v before them") {
  for (const SpecVersion version : cdi::known_versions) {
    CAPTURE(to_string(version));
    CHECK(cdi::parse_spec_version(to_string(version)) == version);
    CHECK(cdi::parse_spec_version("v" + to_string(version)) == version);
  }
  for (const std::string text :
       {"", "v", "1", "1.1", "1.1.0.0", "0.6.1", "0.9.0", "1.2.0", "2.0.0", "1.1.0-rc.1", "01.1.0",
        "vv0.6.0", "V0.6.0", " 0.6.0", "0.6.0 ", "0.6.0\n", "257.1.0"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::parse_spec_version(text));
  }
}

TEST_CASE("Versions are listed in order") {
  for (std::size_t i = 1; i < cdi::known_versions.size(); ++i) {
    CHECK(cdi::known_versions[i - 1] < cdi::known_versions[i]);
  }
  CHECK(cdi::detail::spec_version_names() ==
        "0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0");
}
