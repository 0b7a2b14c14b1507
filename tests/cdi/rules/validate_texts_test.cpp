// Tests for include/cdi/rules/validate_texts.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/validate.hpp>
#include <cdi/rules/validate_texts.hpp>

#include "checked_specs.hpp"

using cdi::Spec;

TEST_CASE("A NUL is refused in every text, at its place") {
  Spec spec = whole_spec();
  auto& edits = edits_of(spec);
  edits = {.env = {"A=1"},
           .device_nodes = {{.path = "/n", .host_path = "/n", .type = "c", .permissions = "r"}},
           .net_devices = {{.host_interface_name = "h", .name = "n"}},
           .hooks = {{.hook_name = "prestart", .path = "/h", .args = {"h"}, .env = {"A=1"}}},
           .mounts = {{.host_path = "/m", .container_path = "/m", .options = {"ro"}}},
           .intel_rdt = cdi::IntelRdt{.clos_id = "c", .schemata = std::vector<std::string>{"x"}}};
  auto& device = spec.devices[0];
  const std::pair<std::string, std::string*> texts[] = {
      {"cdiVersion", &spec.version},
      {"kind", &spec.kind},
      {"annotations.k", &spec.annotations["k"]},
      {"devices[0].name", &device.name},
      {"devices[0].annotations.k", &device.annotations["k"]},
      {"devices[0].containerEdits.env[0]", &device.container_edits.env[0]},
      {"containerEdits.env[0]", &edits.env[0]},
      {"containerEdits.deviceNodes[0].path", &edits.device_nodes[0].path},
      {"containerEdits.deviceNodes[0].hostPath", &edits.device_nodes[0].host_path},
      {"containerEdits.deviceNodes[0].type", &edits.device_nodes[0].type},
      {"containerEdits.deviceNodes[0].permissions", &edits.device_nodes[0].permissions},
      {"containerEdits.netDevices[0].hostInterfaceName", &edits.net_devices[0].host_interface_name},
      {"containerEdits.netDevices[0].name", &edits.net_devices[0].name},
      {"containerEdits.hooks[0].hookName", &edits.hooks[0].hook_name},
      {"containerEdits.hooks[0].path", &edits.hooks[0].path},
      {"containerEdits.hooks[0].args[0]", &edits.hooks[0].args[0]},
      {"containerEdits.hooks[0].env[0]", &edits.hooks[0].env[0]},
      {"containerEdits.mounts[0].hostPath", &edits.mounts[0].host_path},
      {"containerEdits.mounts[0].containerPath", &edits.mounts[0].container_path},
      {"containerEdits.mounts[0].options[0]", &edits.mounts[0].options[0]},
      {"containerEdits.intelRdt.closID", &edits.intel_rdt->clos_id},
      {"containerEdits.intelRdt.schemata[0]", &edits.intel_rdt->schemata->front()},
  };
  CHECK(fault(spec) == "");
  const std::string nul{"a\0b", 3};
  for (const auto& row : texts) {
    CAPTURE(row.first);
    const auto good = std::exchange(*row.second, nul);
    CHECK(
        fault(spec) ==
        row.first +
            R"(: "a\x00b" contains a NUL character, at which some runtimes stop reading: remove it)");
    *row.second = good;
  }
  spec.annotations[nul] = "";
  const auto key = cdi::validate(spec);
  REQUIRE_FALSE(key);
  CHECK(key.error().rule == "text-nul");
  CHECK(fault(cdi::Mount{.host_path = "/h", .container_path = nul}).starts_with("containerPath: "));
}
