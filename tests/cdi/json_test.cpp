// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/spec.hpp>

namespace {

cdi::Spec every_field_said() {
  return {
      .version = "1.1.0",
      .kind = "vendor.com/gpu",
      .annotations = {{"a", "b"}},
      .devices = {{.name = "007",
                   .annotations = {{"k", "\"\\\n\x7f/\xc3\xa9"}},
                   .container_edits =
                       {
                           .env = {"A=1", ""},
                           .device_nodes = {{.path = "/dev/a",
                                             .host_path = "/dev/b",
                                             .type = "c",
                                             .major = 9223372036854775807,
                                             .minor = -1,
                                             .file_mode = 0,
                                             .permissions = "rw",
                                             .uid = 4294967295,
                                             .gid = 0}},
                           .net_devices = {{.host_interface_name = "e", .name = "n"}},
                           .hooks = {{.hook_name = "poststop",
                                      .path = "/h",
                                      .args = {"h"},
                                      .env = {"B=2"},
                                      .timeout = -5}},
                           .mounts = {{.host_path = "/a",
                                       .container_path = "/b",
                                       .options = {"ro"},
                                       .type = "bind"}},
                           .intel_rdt = {{.clos_id = "c",
                                          .l3_cache_schema = "l",
                                          .mem_bw_schema = "m",
                                          .schemata = {{"s"}},
                                          .enable_monitoring = true}},
                           .additional_gids = {0, 7},
                       }}},
      .container_edits = {.intel_rdt = cdi::IntelRdt{}},
  };
}

TEST_CASE("a model as a JSON value equals the text parsed by nlohmann") {
  const cdi::Spec spec = every_field_said();
  const auto value = cdi::to_json_value<nlohmann::json>(spec);
  CHECK(value == nlohmann::json::parse(*cdi::write_json(spec)));
  const auto& node = value["devices"][0]["containerEdits"]["deviceNodes"][0];
  CHECK(node["uid"].is_number_unsigned());
  CHECK(node["minor"].is_number_integer());
  CHECK_FALSE(node["minor"].is_number_unsigned());
}

}  // namespace
