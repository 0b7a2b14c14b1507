// Decides whether the spec of a claim with a fault may stay.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <cdi/spec.hpp>

#include "../model/gpu.hpp"
#include "../model/node.hpp"
#include "../survey/survey.hpp"
#include "claim.hpp"
#include "found_device.hpp"

// A driver may reuse the device numbers of a removed GPU for another GPU.

namespace prepare {

/// Whether a node in a spec is a node of the host, with the same path or numbers.
inline bool is_node(const cdi::DeviceNode& node, const Node& other) {
  const auto& path = node.host_path.empty() ? node.path : node.host_path;
  const bool same_numbers = !node.type.empty() && node.type.front() == other.type &&
                            node.major == other.major && node.minor == other.minor;
  return path == other.path || same_numbers;
}

/// Whether a device in a spec has one of the nodes. Ignores nodes that all GPUs share, such as
/// /dev/vfio/vfio.
inline bool has_any(const cdi::Spec& spec, const std::vector<Node>& nodes) {
  constexpr std::int64_t misc_major = 10;
  const auto is_in = [&](const cdi::Device& device, const Node& node) {
    const auto& own = device.container_edits.device_nodes;
    return std::any_of(own.begin(), own.end(), [&](const auto& one) { return is_node(one, node); });
  };
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.major != misc_major &&
           std::any_of(spec.devices.begin(), spec.devices.end(),
                       [&](const cdi::Device& device) { return is_in(device, node); });
  });
}

/// Whether a spec gives access to a GPU or to a part of it.
inline bool gives_access_to(const cdi::Spec& spec, const Gpu& gpu) {
  const auto shares = gpu.shares();
  return has_any(spec, gpu.whole.nodes) || has_any(spec, gpu.iommufd_nodes) ||
         std::any_of(shares.begin(), shares.end(),
                     [&](const Share& share) { return has_any(spec, share.nodes); });
}

/// Whether the spec of a claim gives access to a GPU that does not belong to the claim, and is not
/// always handed out together with one of the claim's GPUs.
inline bool gives_another_gpu(const Survey& survey, const Claim& claim, const cdi::Spec& spec) {
  std::set<const Gpu*> its;
  for (const auto& claimed : claim.devices) its.insert(find_gpu(survey, gpu_of(claimed)).gpu);
  const auto belongs_to_it = [&](const Gpu& gpu) {
    return std::any_of(its.begin(), its.end(), [&](const Gpu* own) {
      return own != nullptr && (own == &gpu || are_bound_together(*own, gpu));
    });
  };
  const auto gpus = all_gpus(survey);
  return std::any_of(gpus.begin(), gpus.end(), [&](const FoundGpu& found) {
    return !belongs_to_it(*found.gpu) && gives_access_to(spec, *found.gpu);
  });
}

}  // namespace prepare
