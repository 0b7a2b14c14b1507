// What a ResourceClaim asks of a VM: resources, or an instance type.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_CLAIM_MAPPING_HPP
#define CDI_TOOLS_POD_CLAIM_MAPPING_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "claims.hpp"

namespace pod {

/// The driver of the ResourceSlices in which devices are instance types: see `slices`.
inline constexpr std::string_view instance_driver = "instances.kata.peerpods.io";

/// The name of an instance type as a device: a DNS label, such as `g5-xlarge` for `g5.xlarge`.
inline std::string instance_label(std::string_view type) {
  std::string label;
  for (const char c : type) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    label.push_back(upper ? static_cast<char>(c - 'A' + 'a') : good ? c : '-');
  }
  return label;
}

/// A request of a claim, and what it asks of the VM.
struct MappedRequest {
  std::string name{};
  std::string resource{};  // such as nvidia.com/gpu; empty if unknown or an instance
  std::string instance{};  // the device that stands for an instance type
  std::int64_t count = 0;
  std::string reason{};  // why it has neither
  bool has_selectors = false;
};

/// The resources for which DeviceClasses, or the drivers of the same name, stand.
class ResourceNames {
 public:
  explicit ResourceNames(std::map<std::string, std::string> by_class)
      : by_class_{std::move(by_class)} {}

  /// The resource of a DeviceClass; empty if it is unknown.
  std::string of(const std::string& name) const {
    constexpr std::array<std::array<std::string_view, 2>, 4> known{{
        {"gpu.nvidia.com", "nvidia.com/gpu"},
        {"vfio.gpu.nvidia.com", "nvidia.com/gpu"},
        {"gpu.amd.com", "amd.com/gpu"},
        {"gpu.intel.com", "gpu.intel.com/xe"},
    }};
    if (const auto found = by_class_.find(name); found != by_class_.end()) return found->second;
    for (const auto& [device_class, resource] : known) {
      if (device_class == name) return std::string{resource};
    }
    return {};
  }

 private:
  std::map<std::string, std::string> by_class_;
};

namespace detail {

/// The alternative that the scheduler chose, or else the first that can be mapped.
inline const ClaimAlternative* chosen(const ClaimRequest& request,
                                      const std::vector<ClaimResult>& results,
                                      const ResourceNames& names) {
  if (request.alternatives.empty()) return nullptr;
  if (!results.empty()) {
    const auto& path = results.front().request;
    const auto slash = path.find('/');
    for (const auto& one : request.alternatives) {
      if (slash != std::string::npos && one.name == path.substr(slash + 1)) return &one;
    }
    return request.alternatives.data();
  }
  const auto found = std::find_if(
      request.alternatives.begin(), request.alternatives.end(),
      [&](const auto& one) { return one.count && !names.of(one.device_class).empty(); });
  return found == request.alternatives.end() ? request.alternatives.data() : &*found;
}

}  // namespace detail

/// Maps a request of a claim.
inline MappedRequest map_request(const Claim& claim, const ClaimRequest& request,
                                 const ResourceNames& names) {
  MappedRequest out{.name = request.name};
  const auto results = claim.results_of(request.name);
  const auto* const one = detail::chosen(request, results, names);
  if (one == nullptr) {
    out.reason = "it has no device class";
    return out;
  }
  if (!results.empty() && results.front().driver == instance_driver) {
    out.instance = results.front().device;
    return out;
  }
  out.resource = names.of(one->device_class);
  if (out.resource.empty() && !results.empty()) out.resource = names.of(results.front().driver);
  out.has_selectors = one->has_selectors && results.empty();
  if (out.resource.empty()) {
    out.reason = "it is unknown which resource DeviceClass " + cdi::quoted(one->device_class) +
                 " stands for: pass --class " + one->device_class +
                 "=RESOURCE, or the DeviceClass with its extendedResourceName";
  } else if (claim.is_allocated) {
    out.count = static_cast<std::int64_t>(results.size());
  } else if (!one->count) {
    out.resource.clear();
    out.reason = "allocationMode All has no number before the claim is allocated";
  } else {
    out.count = *one->count;
  }
  return out;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_CLAIM_MAPPING_HPP
