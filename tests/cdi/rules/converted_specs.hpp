// Specs, and what `to_version` makes of them, for the tests of conversions between releases.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/versions/to_version.hpp>

inline cdi::Spec spec_with(cdi::ContainerEdits edits, const std::string& version = "1.1.0") {
  edits.env.emplace_back("KEPT=1");
  return {.version = version,
          .kind = "vendor.com/gpu",
          .devices = {{.name = "a", .container_edits = std::move(edits)}}};
}

inline cdi::Spec spec_with_rdt(cdi::IntelRdt rdt, const std::string& version) {
  return spec_with({.intel_rdt = std::move(rdt)}, version);
}

/// Every field that came after 0.3.0 or went, at the top and in a device, and names of any kind.
inline cdi::Spec everything() {
  cdi::IntelRdt rdt{.clos_id = "low", .enable_monitoring = true};
  rdt.schemata = std::vector<std::string>{"L3:0=f"};
  cdi::Spec spec = spec_with({
      .device_nodes = {{.path = "/dev/a", .host_path = "/dev/b"}},
      .net_devices = {{.host_interface_name = "eth1", .name = "net0"}},
      .hooks = {{.hook_name = "prestart", .path = "/h"}},
      .mounts = {{.host_path = "/h", .container_path = "/c", .type = "tmpfs"}},
      .intel_rdt = rdt,
      .additional_gids = {44},
  });
  spec.annotations = {{"of", "spec"}};
  spec.container_edits = spec.devices[0].container_edits;
  spec.devices[0].annotations = {{"of", "device"}};
  spec.devices.push_back({.name = "0", .container_edits = {.env = {"DIGIT=1"}}});
  spec.devices.push_back({.name = "net",
                          .container_edits = {
                              .net_devices = {{.host_interface_name = "eth2", .name = "net1"}},
                          }});
  return spec;
}

/// The converted spec; nothing may be lost.
inline cdi::Spec converted(const cdi::Spec& spec, cdi::SpecVersion version) {
  auto done = cdi::to_version(spec, version);
  REQUIRE_MESSAGE(done, to_string(done.error()));
  CHECK(done->losses.empty());
  CHECK(done->spec.version == to_string(version));
  return std::move(done->spec);
}

inline std::vector<cdi::Loss> losses(const cdi::Spec& spec, cdi::SpecVersion version) {
  auto done = cdi::to_version(spec, version, cdi::Losses::allow);
  REQUIRE_MESSAGE(done, to_string(done.error()));
  return std::move(done->losses);
}

/// The places of the losses, one a line.
inline std::string places(const cdi::Spec& spec, cdi::SpecVersion version) {
  std::string text;
  for (const auto& loss : losses(spec, version)) text.append(loss.where).append("\n");
  return text;
}

inline std::string rejected(const cdi::Spec& spec, cdi::SpecVersion version,
                            cdi::Losses allowed = cdi::Losses::reject) {
  const auto done = cdi::to_version(spec, version, allowed);
  REQUIRE_FALSE(done);
  return to_string(done.error());
}
