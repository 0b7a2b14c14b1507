// Tests for conversions to each version, member by member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/versions/to_version.inl>

#include "../rules/converted_specs.hpp"

namespace {

using cdi::Losses;
using cdi::SpecVersion;

/// The keys of fields that some version lacks.
template <class T>
void later_keys(std::vector<std::string_view>& keys) {
  if constexpr (cdi::Described<T>) {
    cdi::every_field<T>([&](const auto& field) {
      if (!field.lifetime.ended() && field.lifetime.since != SpecVersion{})
        keys.push_back(field.key);
      later_keys<typename std::remove_cvref_t<decltype(field)>::value_type>(keys);
      return true;
    });
  } else if constexpr (requires { typename T::value_type; }) {
    later_keys<typename T::value_type>(keys);
  }
}

TEST_CASE("A host path that changes nothing is not a loss") {
  const auto node = [](cdi::DeviceNode given) {
    return spec_with({.device_nodes = {std::move(given)}});
  };
  const auto is_lost = [&](const cdi::DeviceNode& given) {
    const auto done = cdi::to_version(node(given), {0, 4, 0}, Losses::allow);
    REQUIRE(done);
    CHECK(done->spec.devices[0].container_edits.device_nodes[0].host_path.empty());
    return !done->losses.empty();
  };
  CHECK_FALSE(is_lost({.path = "/dev/a", .host_path = "/dev/a"}));
  CHECK(is_lost({.path = "/dev/a", .host_path = "/dev/b"}));
  // The host is asked nothing, or only for the mode.
  CHECK_FALSE(is_lost(
      {.path = "/dev/a", .host_path = "/dev/b", .type = "c", .major = 1, .file_mode = 0600}));
  CHECK_FALSE(is_lost({.path = "/dev/a", .host_path = "/dev/b", .type = "p", .file_mode = 0600}));
  CHECK(is_lost({.path = "/dev/a", .host_path = "/dev/b", .type = "c", .major = 1}));
  CHECK(is_lost({.path = "/dev/a", .host_path = "/dev/b", .type = "c", .file_mode = 0600}));
  CHECK(is_lost({.path = "/dev/a", .host_path = "/dev/b", .major = 1, .file_mode = 0600}));
  const auto kept = converted(node({.path = "/dev/a", .host_path = "/dev/a"}), {0, 5, 0});
  CHECK(kept.devices[0].container_edits.device_nodes[0].host_path == "/dev/a");
}

TEST_CASE("The type of a bind mount is not a loss when its options say it") {
  const auto is_lost = [](const std::string& type, std::vector<std::string> options) {
    const auto done = cdi::to_version(spec_with({.mounts = {{.host_path = "/h",
                                                             .container_path = "/c",
                                                             .options = std::move(options),
                                                             .type = type}}}),
                                      {0, 3, 0}, Losses::allow);
    REQUIRE(done);
    CHECK(done->spec.devices[0].container_edits.mounts[0].type.empty());
    return !done->losses.empty();
  };
  CHECK_FALSE(is_lost("bind", {"ro", "bind"}));
  CHECK_FALSE(is_lost("bind", {"rbind", "ro"}));
  CHECK(is_lost("bind", {"ro"}));
  CHECK(is_lost("bind", {}));
  CHECK(is_lost("tmpfs", {"bind"}));
}

TEST_CASE("Monitoring is written as the version writes it, and never lost from 0.7.0 on") {
  for (const SpecVersion version :
       {SpecVersion{0, 7, 0}, SpecVersion{0, 8, 0}, SpecVersion{1, 0, 0}}) {
    const auto older = converted(spec_with_rdt({.enable_monitoring = true}, "1.1.0"), version);
    const auto& rdt = *older.devices[0].container_edits.intel_rdt;
    CHECK_FALSE(rdt.enable_monitoring);
    CHECK(rdt.enable_cmt == true);
    CHECK(rdt.enable_mbm == true);
    CHECK(converted(older, {1, 1, 0}) == spec_with_rdt({.enable_monitoring = true}, "1.1.0"));
  }
  const auto raised = [](cdi::IntelRdt rdt) {
    return *converted(spec_with_rdt(std::move(rdt), "0.7.0"), {1, 1, 0})
                .devices[0]
                .container_edits.intel_rdt;
  };
  cdi::IntelRdt cmt;
  cmt.enable_cmt = true;
  cmt.enable_mbm = false;
  cdi::IntelRdt mbm;
  mbm.enable_mbm = true;
  cdi::IntelRdt off;
  off.enable_cmt = false;
  CHECK(raised(cmt) == cdi::IntelRdt{.enable_monitoring = true});
  CHECK(raised(mbm) == cdi::IntelRdt{.enable_monitoring = true});
  CHECK(raised(off) == cdi::IntelRdt{});
  CHECK(raised({}) == cdi::IntelRdt{});
  const auto same = converted(spec_with_rdt(cmt, "0.7.0"), {1, 0, 0});
  CHECK(same.devices[0].container_edits.intel_rdt == cmt);
}

TEST_CASE("Monitoring below 0.7.0 is lost as it was written") {
  const auto lost = losses(spec_with_rdt({.enable_monitoring = true}, "1.1.0"), {0, 6, 0});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].what == "intelRdt {enableMonitoring: true} (since 0.7.0)");
}

TEST_CASE("Monitoring in the edits of the spec is translated too") {
  cdi::Spec spec = spec_with({});
  spec.container_edits.intel_rdt = cdi::IntelRdt{.enable_monitoring = true};
  CHECK(converted(spec, {1, 0, 0}).container_edits.intel_rdt->enable_cmt == true);
}

TEST_CASE("An empty list of schemata is not a loss") {
  cdi::IntelRdt rdt{.clos_id = "a"};
  rdt.schemata.emplace();
  const auto older = converted(spec_with_rdt(rdt, "1.1.0"), {1, 0, 0});
  CHECK(older.devices[0].container_edits.intel_rdt == cdi::IntelRdt{.clos_id = "a"});
}

TEST_CASE("A device whose name begins with a digit is lost below 0.5.0, with all its members") {
  cdi::Spec spec = spec_with({});
  spec.devices.insert(spec.devices.begin(),
                      {.name = "0", .container_edits = {.additional_gids = {1}}});
  CHECK(converted(spec_with({}), {0, 3, 0}).devices.size() == 1);
  const auto done = cdi::to_version(spec, {0, 4, 0}, Losses::allow);
  REQUIRE(done);
  REQUIRE(done->losses.size() == 1);
  CHECK(
      done->losses[0] ==
      cdi::Loss{
          .where = "devices[0]",
          .what =
              R"(device "0" (names may begin with a digit since 0.5.0: rename it, or convert to 0.5.0))",
          .breaks = R"("vendor.com/gpu=0" cannot be requested)"});
  CHECK(done->spec.devices == spec_with({}).devices);
  CHECK(places(spec, {0, 5, 0}) == "devices[0].containerEdits.additionalGids\ndevices[0]\n");
}

TEST_CASE("A device without edits is lost after its members; the others keep their places") {
  cdi::Spec spec = spec_with({.additional_gids = {1}});
  spec.devices.insert(spec.devices.begin(),
                      {.name = "net",
                       .annotations = {{"a", "1"}},
                       .container_edits = {
                           .net_devices = {{.host_interface_name = "eth1", .name = "net0"}},
                       }});
  CHECK(places(spec, {0, 7, 0}) == "devices[0].containerEdits.netDevices\ndevices[0]\n");
  CHECK(places(spec, {0, 5, 0}) ==
        "devices[0].annotations\n"
        "devices[0].containerEdits.netDevices\n"
        "devices[0]\n"
        "devices[1].containerEdits.additionalGids\n");
  const auto lost = losses(spec, {0, 7, 0});
  CHECK(lost[1].what == R"(device "net" (no edits are left))");
  CHECK(lost[1].breaks == R"("vendor.com/gpu=net" cannot be requested)");
}

TEST_CASE("Losses come in document order") {
  CHECK(places(everything(), {0, 3, 0}) ==
        "annotations\n"
        "devices[0].annotations\n"
        "devices[0].containerEdits.deviceNodes[0].hostPath\n"
        "devices[0].containerEdits.netDevices\n"
        "devices[0].containerEdits.mounts[0].type\n"
        "devices[0].containerEdits.intelRdt\n"
        "devices[0].containerEdits.additionalGids\n"
        "devices[1]\n"
        "devices[2].containerEdits.netDevices\n"
        "devices[2]\n"
        "containerEdits.deviceNodes[0].hostPath\n"
        "containerEdits.netDevices\n"
        "containerEdits.mounts[0].type\n"
        "containerEdits.intelRdt\n"
        "containerEdits.additionalGids\n");
}

TEST_CASE("Every field that can be lost has a consequence") {
  std::vector<std::string_view> keys;
  later_keys<cdi::Spec>(keys);
  CHECK(keys.size() == 16);
  for (const auto key : keys) {
    CAPTURE(key);
    const bool translated = key == "enableMonitoring";
    CHECK((cdi::detail::consequence_of_losing(key) == "it has no effect") == translated);
  }
}

}  // namespace
