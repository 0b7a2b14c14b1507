// Finds the devices that a container requests by variables such as NVIDIA_VISIBLE_DEVICES.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/registry.hpp>
#include <cdi/requests.hpp>
#include <cdi/text/parse_json.hpp>

#include "visible_list.hpp"
#include "visible_names.hpp"

namespace tools {

/// The entries of a variable of a container.
struct VariableRequest {
  std::string variable{};
  std::string kind{};
  std::vector<VisibleEntry> entries{};
};

namespace detail {

/// The name, in a kind, of the device of an entry: the device with this name, or else the only one
/// with this UUID. Any other entry keeps the name that its device would have, for the error about
/// the missing device.
inline std::string device_of(const VisibleEntry& entry, std::string_view kind,
                             const std::vector<std::string>& devices) {
  std::string_view device = entry.device;
  if (device.starts_with(kind) && device.substr(kind.size()).starts_with('=')) {
    device.remove_prefix(kind.size() + 1);
  }
  const bool is_name = std::find(devices.begin(), devices.end(), device) != devices.end();
  if (!is_name && !entry.uuid.empty()) {
    const auto match = match_visible(entry, devices);
    if (match.devices.size() == 1) return match.devices.front();
  }
  return std::string{device};
}

/// Whether a JSON text cannot have a variable: neither its name, nor an escape that may be part of
/// it. Most configs need not be parsed then.
inline bool lacks_variable(std::string_view text, std::string_view variable) {
  return text.find(variable) == text.npos && text.find("\\u") == text.npos;
}

}  // namespace detail

/// What the variables in a config select. `kinds` has the kind of each variable that counts. Of
/// several variables with one name, the last counts: runtimes give it to the container. An
/// annotation for a device of the same kind comes first: images set variables, too, and Kubernetes
/// counts only what it has annotated. Fails with the errors of `parse_json` and `read_visible`.
inline cdi::Result<std::vector<VariableRequest>> variable_requests(
    const cdi::ConfigJson& config, const std::map<std::string, std::string>& kinds,
    const std::vector<cdi::RequestedDevice>& annotated) {
  std::vector<VariableRequest> out;
  const auto counts = [&](const auto& one) {
    const auto has_kind = [start = one.second + "="](const cdi::RequestedDevice& device) {
      return device.name.starts_with(start);
    };
    return !detail::lacks_variable(config.text, one.first) &&
           std::none_of(annotated.begin(), annotated.end(), has_kind);
  };
  if (std::none_of(kinds.begin(), kinds.end(), counts)) return out;
  const auto document = cdi::parse_json(config.text, config.file, config.limits);
  if (!document) return document.error();
  cdi::Document::Value env = document->root();
  for (std::string_view path = "process.env"; !path.empty();) {
    if (!cdi::detail::descend(env, path)) return out;
  }
  for (const auto& [variable, kind] : kinds) {
    if (!counts(std::pair{variable, kind})) continue;
    std::string value;  // an empty one selects nothing
    for (const auto item : env.items()) {
      if (item.text().starts_with(variable + "=")) value = item.text().substr(variable.size() + 1);
    }
    auto list = read_visible({Dialect::container, variable, std::move(value)});
    if (!list) return std::move(list).error();
    if (!list->entries.empty()) out.push_back({variable, kind, std::move(list->entries)});
  }
  return out;
}

/// Adds the devices that variables select, and then keeps the first of each name: the hooks of a
/// device that is injected twice run twice.
inline void add_variables(const std::vector<VariableRequest>& variables,
                          const cdi::Registry& registry,
                          std::vector<cdi::RequestedDevice>& devices) {
  for (const auto& [variable, kind, entries] : variables) {
    std::vector<std::string> known;
    for (const auto& name : registry.devices()) {
      if (name.starts_with(kind + "=")) known.push_back(name.substr(kind.size() + 1));
    }
    for (const auto& entry : entries) {
      devices.push_back({.name = kind + "=" + detail::device_of(entry, kind, known),
                         .origin = cdi::RequestOrigin::variable,
                         .key = variable});
    }
  }
  std::set<std::string> names;
  std::erase_if(devices, [&](const auto& device) { return !names.insert(device.name).second; });
}

}  // namespace tools
