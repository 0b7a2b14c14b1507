// Uses each part of the core, and of JSON, once. Every object that includes this has its own copies
// of the templates, and the linker must find them identical.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/core.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/versions.hpp>

namespace {

constexpr std::string_view spec_text = R"({
  "cdiVersion": "1.1.0", "kind": "vendor.com/class", "annotations": {"key": "value"},
  "devices": [{"name": "one", "containerEdits": {
    "env": ["A=1"],
    "deviceNodes": [
      {"path": "/dev/a", "type": "c", "major": 195, "minor": 1048575, "fileMode": 438, "gid": 0},
      {"path": "/dev/b", "hostPath": "/dev/a"}],
    "mounts": [{"hostPath": "/h", "containerPath": "/c", "options": ["ro"], "type": "bind"}],
    "hooks": [{"hookName": "createContainer", "path": "/bin/h", "args": ["h"], "timeout": 5}],
    "netDevices": [{"hostInterfaceName": "eth1", "name": "eth0"}],
    "additionalGids": [4294967295],
    "intelRdt": {"closID": "low", "schemata": ["L3:0=f"], "enableMonitoring": true}}}]})";

/// Whether a target has the right members after `one` was injected.
template <class OciSpec>
bool takes_edits(OciSpec target, const cdi::Registry& registry) {
  const auto host = [](std::string_view) -> cdi::Result<cdi::HostNode> {
    return cdi::HostNode{.type = 'b', .major = (std::int64_t{1} << 40) + 7, .minor = 9};
  };
  if (!registry.inject(target, {"vendor.com/class=one"}, host)) return false;
  const nlohmann::json after = [&] {
    if constexpr (cdi::Described<OciSpec>) {
      return cdi::to_json_value<nlohmann::json>(target);
    } else {
      return target;
    }
  }();
  return after["process"]["env"][0] == "A=1" &&
         after["process"]["user"]["additionalGids"][0] == 4294967295 &&
         after["linux"]["devices"][0]["minor"] == 1048575 &&
         after["linux"]["devices"][1]["major"] == (std::int64_t{1} << 40) + 7 &&
         after["linux"]["resources"]["devices"].size() == 2;
}

/// Whether each part returns the right results.
bool use_core() {
  const auto spec = cdi::read_json<cdi::Spec>(spec_text, "v.json");
  if (!spec || !cdi::validate(*spec)) return false;
  const auto document = cdi::parse_json(spec_text);
  if (!document || cdi::read<cdi::SpecView>(*document)->kind != spec->kind) return false;
  if (cdi::copy_as<cdi::SpecView>(*spec).devices.size() != 1) return false;
  const auto again = cdi::read_json<cdi::Spec>(*cdi::write_json(*spec));
  if (!again || *again != *spec) return false;
  const auto wrong = cdi::read_json<cdi::Mount>("{\"hostPath\":\n []}");
  if (wrong || wrong.error().position.line != 2) return false;
  if (cdi::parse_json("{")) return false;

  if (cdi::minimum_version(*spec) != cdi::current_version) return false;
  if (cdi::to_version(*spec, {0, 3, 0}) || !cdi::to_version(*spec, {0, 6, 0}, cdi::Losses::allow))
    return false;
  if (cdi::rules.empty()) return false;
  std::map<std::string, std::string> notes;
  if (!cdi::update_annotations(notes, "plugin", "id", {"vendor.com/class=one"})) return false;
  if (cdi::parse_annotations(notes)->devices.size() != 1) return false;

  cdi::LoadedSpec loaded{.spec = *spec, .path = "v.json"};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
  if (registry.unresolved({"vendor.com/class=on"}).at(0).reason != cdi::Reason::unknown_device) {
    return false;
  }
  return takes_edits(cdi::oci::Spec{}, registry) && takes_edits(nlohmann::json::object(), registry);
}

}  // namespace
