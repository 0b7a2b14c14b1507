// Tests for tools/kit/cdi_specs/drift.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/cdi_specs/drift.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

/// A host with c 195:255 at /dev/a, and a directory at /dev/dir.
cdi::Result<cdi::HostNode> host(std::string_view path) {
  if (path == "/dev/a") return cdi::HostNode{'c', 195, 255, 0660};
  if (path == "/dev/dir") return cdi::Error{.code = cdi::Errc::host, .message = "a directory"};
  return cdi::Error{.code = cdi::Errc::host, .message = "no host device", .system = ENOENT};
}

}  // namespace

TEST_CASE("Each pinned node that differs is reported, with its place in the spec") {
  cdi::LoadedSpec spec{
      .path = "/etc/cdi/a.yaml", .device_positions = {{5, 1}, {9, 1}}, .edits_position = {3, 1}};
  spec.spec.kind = "v.com/c";
  spec.spec.container_edits.device_nodes = {
      {.path = "/dev/x", .host_path = "/dev/a", .type = "c", .major = 195, .minor = 1}};
  spec.spec.devices = {
      {.name = "same",
       .container_edits = {.device_nodes = {{.path = "/dev/a"},
                                            {.path = "/dev/a", .type = "c"},
                                            {.path = "/dev/a", .major = 195, .minor = 255},
                                            {.path = "/dev/gone", .type = "b", .major = 8}}}},
      {.name = "other",
       .container_edits = {.device_nodes = {{.path = "/dev/a", .type = "p"},
                                            {.path = "/dev/dir", .type = "c", .major = 1}}}}};
  const cdi::ResolvedDevice devices[] = {{&spec, &spec.spec.devices[0]},
                                         {&spec, &spec.spec.devices[1]}};
  std::vector<std::string> lines;
  for (const auto& error : tools::find_drift(devices, cdi::detail::HostRef{host})) {
    CHECK(error.code == cdi::Errc::host);
    lines.push_back(to_string(error));
  }
  CHECK(lines == std::vector<std::string>{
                     "/etc/cdi/a.yaml:3:1: containerEdits.deviceNodes[0].major: host device "
                     "\"/dev/a\" is c 195:255, not c 195:1",
                     "/etc/cdi/a.yaml:9:1: devices[1].containerEdits.deviceNodes[0].type: host "
                     "device \"/dev/a\" is c 195:255, not p",
                     "/etc/cdi/a.yaml:9:1: devices[1].containerEdits.deviceNodes[1]: a directory"});
  CHECK(tools::find_drift({}, cdi::detail::HostRef{host}).empty());
}

TEST_CASE("The default is the host on which the program runs") {
  cdi::LoadedSpec spec;
  spec.spec.devices = {
      {.name = "null",
       .container_edits = {
           .device_nodes = {{.path = "/dev/null", .type = "c", .major = 1, .minor = 3}}}}};
  const cdi::ResolvedDevice device{&spec, &spec.spec.devices[0]};
  CHECK(tools::find_drift({&device, 1}).empty());
  spec.spec.devices[0].container_edits.device_nodes[0].minor = 5;
  CHECK(tools::find_drift({&device, 1}).size() == 1);
}
