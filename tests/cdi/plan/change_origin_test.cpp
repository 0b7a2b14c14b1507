// Tests for cdi/plan/change_origin.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/oci/spec.hpp>
#include <cdi/plan/change_origin.hpp>
#include <cdi/targets/oci_editor.hpp>

namespace {

/// Adds an edit, whose origin is named after it.
template <class Edit>
void add(std::vector<cdi::Planned<Edit>>& edits, Edit edit, const std::string& name) {
  edits.push_back({std::move(edit), {.name = name, .file = "/f"}});
}

/// The changes in a spec, sorted: part and key, and the name of the origin.
std::vector<std::string> changes(const cdi::Plan& plan, cdi::oci::Spec spec = {}) {
  std::vector<std::string> out;
  const auto made = plan.apply(spec);
  REQUIRE(made);
  for (const auto& change : *made) {
    const auto* const origin = cdi::find_origin(plan, change);
    out.push_back(change.part + " " + change.key + " " + (origin ? origin->name : "none"));
  }
  std::sort(out.begin(), out.end());
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("Each kind of edit makes its changes") {
  cdi::Plan plan;
  add<std::string>(plan.env, "A=1", "env");
  add<cdi::DeviceNode>(plan.device_nodes,
                       {.path = "/dev/a",
                        .host_path = "/dev/a",
                        .type = "c",
                        .major = 1,
                        .minor = 3,
                        .file_mode = 0600,
                        .permissions = "rw"},
                       "node");
  add<cdi::NetDevice>(plan.net_devices, {.host_interface_name = "eth0", .name = "n"}, "net");
  add<cdi::Hook>(plan.hooks, {.hook_name = "createContainer", .path = "/h", .args = {"h", "1"}},
                 "first hook");
  add<cdi::Hook>(plan.hooks, {.hook_name = "createContainer", .path = "/h", .args = {"h", "2"}},
                 "second hook");
  add<cdi::Mount>(plan.mounts, {.host_path = "/s", .container_path = "/d", .options = {"bind"}},
                  "mount");
  add<cdi::IntelRdt>(plan.intel_rdt, {.clos_id = "c"}, "rdt");
  add<std::uint32_t>(plan.additional_gids, 44, "gid");
  CHECK(changes(plan) == Lines{"hooks.createContainer /h first hook",
                               "hooks.createContainer /h second hook", "linux.devices /dev/a node",
                               "linux.intelRdt  rdt", "linux.netDevices eth0 net",
                               "linux.resources.devices c 1:3 node", "mounts /d mount",
                               "process.env A env", "process.user.additionalGids 44 gid"});
}

TEST_CASE("The last edit of an entry makes the change") {
  cdi::Plan plan;
  add<std::string>(plan.env, "A=1", "first");
  add<std::string>(plan.env, "A=2", "second");
  add<std::string>(plan.env, "AA=3", "other");
  CHECK(changes(plan) == Lines{"process.env A second", "process.env AA other"});
}

TEST_CASE("A mount that only moves has no origin") {
  cdi::oci::Spec spec;
  spec.mounts = {{.destination = "/x/y", .source = "/a"}, {.destination = "/x", .source = "/b"}};
  cdi::Plan plan;
  add<cdi::Mount>(plan.mounts, {.host_path = "/s", .container_path = "/d"}, "mount");
  const auto made = changes(plan, spec);
  CHECK(std::count(made.begin(), made.end(), "mounts /d mount") == 1);
  CHECK(std::count_if(made.begin(), made.end(),
                      [](const std::string& line) { return line.ends_with(" none"); }) == 1);
}

TEST_CASE("The text of a changed hook is read once, not for each hook of the plan") {
  cdi::Plan plan;
  for (int i = 0; i < 5000; ++i) {
    const auto text = std::to_string(i);
    add<cdi::Hook>(plan.hooks, {.hook_name = "prestart", .path = "/h", .args = {"h", text}}, text);
  }
  const auto made = changes(plan);  // in seconds; reading 12 million texts takes minutes
  REQUIRE(made.size() == 5000);
  CHECK(made.back() == "hooks.prestart /h 999");
}

TEST_CASE("A changed rule is of the last node with its type and both numbers") {
  cdi::Plan plan;
  const auto rule_of = [&](std::string type, std::int64_t major, std::int64_t minor,
                           const std::string& name) {
    add<cdi::DeviceNode>(plan.device_nodes,
                         {.path = "/dev/" + name,
                          .host_path = "/dev/" + name,
                          .type = std::move(type),
                          .major = major,
                          .minor = minor,
                          .permissions = "r"},
                         name);
  };
  rule_of("c", 12, 3, "first");
  rule_of("c", 1, 23, "second");
  rule_of("b", 12, 3, "block");
  rule_of("c", 12, 3, "last");
  const auto origin_of = [&](const std::string& key) {
    const auto* const origin =
        cdi::find_origin(plan, {.part = "linux.resources.devices", .key = key});
    return origin ? origin->name : "none";
  };
  CHECK(origin_of("c 12:3") == "last");
  CHECK(origin_of("c 1:23") == "second");
  CHECK(origin_of("b 12:3") == "block");
  for (const auto* key :
       {"b 1:23", "c 3:12", "c *:3", "c 12:*", "a *:*", "c 12", "c", "", ":", " :"}) {
    CAPTURE(key);
    CHECK(origin_of(key) == "none");
  }
}
