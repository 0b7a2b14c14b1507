// A spec that uses every field of the model.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cdi/spec.hpp>

/// A spec that uses every field of the model.
inline cdi::Spec every_field_said() {
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
