// Counters that make Kubernetes allocate only one of the devices that share a GPU.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/kubernetes/resource_slice.hpp"
#include "../claims/found_device.hpp"
#include "device_names.hpp"
#include "limits.hpp"

namespace prepare {

/// The counters of a GPU with devices that exclude each other: each part is a counter with the
/// value 1, and the whole GPU consumes all of them. No counters if no device excludes another.
class GpuCounters {
 public:
  explicit GpuCounters(const FoundGpu& whole)
      : set_{dns_label(whole.inventory->kind, whole.gpu->stable_name())} {
    const auto devices = devices_of(whole);
    const bool has_whole = std::any_of(devices.begin(), devices.end(), [](const auto& device) {
      return device.share.suffix.empty();
    });
    if (!has_whole || devices.size() < 2) return;
    for (const auto& device : devices) counters_.insert(counter_of(device));
    if (counters_.size() > slice_limits::counters) counters_.clear();
  }

  explicit operator bool() const { return !counters_.empty(); }

  /// The counters as an item of `sharedCounters`.
  kubernetes::SharedCounters shared() const { return {set_, values(counters_)}; }

  /// The counters of a device as the value of `consumesCounters`.
  std::vector<kubernetes::ConsumedCounters> consumed_by(const FoundDevice& device) const {
    return {{set_, values(device.share.suffix.empty() ? counters_ : std::set{counter_of(device)})}};
  }

 private:
  static std::string counter_of(const FoundDevice& device) {
    const auto part = detail::label_letters(device.share.suffix);
    return part.empty() ? "whole" : part;
  }

  static kubernetes::SliceValues values(const std::set<std::string>& counters) {
    kubernetes::SliceValues out;
    for (const auto& name : counters) out[name] = {"1"};
    return out;
  }

  std::string set_;
  std::set<std::string> counters_{};
};

}  // namespace prepare
