// Chooses which of the free devices a container should get.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plugin_devices.hpp"

namespace dra {

/// The kubelet's question for a container.
struct Preference {
  std::set<std::string> available{};
  std::set<std::string> must_include{};  // some of them
  std::size_t size = 0;
};

/// Chooses `size` of the available devices on as few NUMA nodes as possible, first on the nodes of
/// required devices, then on the smallest node with enough. So the devices of larger nodes stay
/// together for later containers. Returns fewer if there are not enough.
inline std::vector<std::string> preferred_devices(const Preference& asked,
                                                  const PluginDevices& devices) {
  std::vector<std::string> out{asked.must_include.begin(), asked.must_include.end()};
  std::map<std::optional<int>, std::vector<std::string>> nodes;
  std::set<std::optional<int>> begun;
  const auto node_of = [&](const std::string& name) {
    const auto found = devices.find(name);
    return found == devices.end() ? std::nullopt : found->second.numa_node;
  };
  for (const auto& name : asked.must_include) begun.insert(node_of(name));
  for (const auto& name : asked.available) {
    if (!asked.must_include.contains(name)) nodes[node_of(name)].push_back(name);
  }
  while (out.size() < asked.size && !nodes.empty()) {
    const auto missing = asked.size - out.size();
    const auto rank = [&](const auto& node) {
      const auto count = node.second.size();
      const bool is_enough = count >= missing;
      return std::tuple{!begun.contains(node.first), !node.first.has_value(), !is_enough,
                        is_enough ? count : missing - count};
    };
    const auto best =
        std::min_element(nodes.begin(), nodes.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (const auto& name : best->second) {
      if (out.size() < asked.size) out.push_back(name);
    }
    nodes.erase(best);
  }
  return out;
}

}  // namespace dra
