// Gathers the devices for `cdi inject` from the command line and the config.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/registry.hpp>
#include <cdi/requests.hpp>

#include "../base/in_place.hpp"

/// The names of the command line, and then the names in the config's annotations, each once. An
/// annotation with an empty value requests nothing.
inline cdi::Result<std::vector<cdi::RequestedDevice>> annotated_requests(
    const FileInPlace& file, const std::vector<std::string>& names) {
  const cdi::ConfigJson config{.text = file.text, .file = file.path};
  return cdi::gather_requests(config, {.rules = cdi::RequestRules::each_once, .field = names});
}

/// The names of requests.
inline std::vector<std::string> names_of(std::span<const cdi::RequestedDevice> requested) {
  std::vector<std::string> names;
  for (const auto& one : requested) names.push_back(one.name);
  return names;
}

/// The requests for devices: by an annotation as in `annotated`, and others by `origin`.
inline std::vector<cdi::RequestedDevice> requests_for(
    std::span<const cdi::ResolvedDevice> devices, std::span<const cdi::RequestedDevice> annotated,
    cdi::RequestOrigin origin) {
  std::map<std::string_view, const cdi::RequestedDevice*> by_annotation;
  for (const auto& one : annotated) {
    if (one.origin == cdi::RequestOrigin::annotation) by_annotation.emplace(one.name, &one);
  }
  std::vector<cdi::RequestedDevice> out;
  for (const auto& found : devices) {
    const auto name = cdi::qualified_name(found.spec->spec.kind, found.device->name);
    const auto known = by_annotation.find(name);
    out.push_back(known != by_annotation.end()
                      ? *known->second
                      : cdi::RequestedDevice{.name = name, .origin = origin});
  }
  return out;
}
