// A valid spec, and its text in both formats.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <cdi/spec.hpp>

inline const std::string good_json =
    R"({"cdiVersion":"1.0.0","kind":"v.com/c","devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})";
inline const std::string good_yaml =
    "cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: [A=1]\n";

inline cdi::Spec good_spec() {
  return {.version = "1.0.0",
          .kind = "v.com/c",
          .devices = {{.name = "d", .container_edits = {.env = {"A=1"}}}}};
}
