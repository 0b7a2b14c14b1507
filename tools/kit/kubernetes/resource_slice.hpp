// The ResourceSlices of the Kubernetes API, resource.k8s.io/v1, with the members that tools write.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/fields.hpp>

namespace kubernetes {

/// A quantity of a counter or of a capacity.
struct SliceValue {
  std::string value{};

  static constexpr void fields(auto& list) { list("value", &SliceValue::value, cdi::required); }
};

using SliceValues = std::map<std::string, SliceValue>;

/// The value of an attribute; one of the members is set.
struct SliceAttribute {
  std::string text{};
  std::optional<std::int64_t> number{};
  std::string version{};  // semantic

  static constexpr void fields(auto& list) {
    list("string", &SliceAttribute::text);
    list("int", &SliceAttribute::number);
    list("version", &SliceAttribute::version);
  }
};

using SliceAttributes = std::map<std::string, SliceAttribute>;

/// The counters that a device consumes.
struct ConsumedCounters {
  std::string set{};
  SliceValues counters{};

  static constexpr void fields(auto& list) {
    list("counterSet", &ConsumedCounters::set, cdi::required);
    list("counters", &ConsumedCounters::counters, cdi::required);
  }
};

/// A set of counters.
struct SharedCounters {
  std::string name{};
  SliceValues counters{};

  static constexpr void fields(auto& list) {
    list("name", &SharedCounters::name, cdi::required);
    list("counters", &SharedCounters::counters, cdi::required);
  }
};

/// A taint, which keeps new pods from a device. Running pods keep the device.
struct SliceTaint {
  std::string key{};
  std::string value{};
  std::string_view effect = "NoSchedule";

  static constexpr void fields(auto& list) {
    list("key", &SliceTaint::key, cdi::required);
    list("value", &SliceTaint::value, cdi::required);
    list("effect", &SliceTaint::effect, cdi::required);
  }
};

/// A device in a slice.
struct SliceDevice {
  std::string name{};
  SliceAttributes attributes{};
  bool is_shared = false;  // any number of claims can have it at once
  SliceValues capacity{};
  std::vector<ConsumedCounters> counters{};
  std::vector<SliceTaint> taints{};

  static constexpr void fields(auto& list) {
    list("name", &SliceDevice::name, cdi::required);
    list("attributes", &SliceDevice::attributes, cdi::required);
    list("allowMultipleAllocations", &SliceDevice::is_shared);
    list("capacity", &SliceDevice::capacity);
    list("consumesCounters", &SliceDevice::counters);
    list("taints", &SliceDevice::taints);
  }
};

/// The pool of a slice.
struct SlicePool {
  std::string name{};
  std::int64_t generation = 1;
  std::size_t count = 0;

  static constexpr void fields(auto& list) {
    list("name", &SlicePool::name, cdi::required);
    list("generation", &SlicePool::generation, cdi::required);
    list("resourceSliceCount", &SlicePool::count, cdi::required);
  }
};

/// The spec of a slice of a node or of all nodes, with counters or with devices.
struct SliceSpec {
  std::string driver{};
  std::string node{};
  SlicePool pool{};
  bool all_nodes = false;
  std::vector<SharedCounters> counters{};
  std::optional<std::vector<SliceDevice>> devices{};

  static constexpr void fields(auto& list) {
    list("driver", &SliceSpec::driver, cdi::required);
    list("nodeName", &SliceSpec::node);
    list("pool", &SliceSpec::pool, cdi::required);
    list("allNodes", &SliceSpec::all_nodes);
    list("sharedCounters", &SliceSpec::counters);
    list("devices", &SliceSpec::devices);
  }
};

/// The metadata of a slice. Only the cluster knows the owner.
struct SliceMetadata {
  std::string name{};
  std::string generate_name{};  // of a slice that the cluster names

  static constexpr void fields(auto& list) {
    list("name", &SliceMetadata::name);
    list("generateName", &SliceMetadata::generate_name);
  }
};

/// A slice.
struct ResourceSlice {
  std::string_view api_version = "resource.k8s.io/v1";
  std::string_view kind = "ResourceSlice";
  SliceMetadata metadata{};
  SliceSpec spec{};

  static constexpr void fields(auto& list) {
    list("apiVersion", &ResourceSlice::api_version, cdi::required);
    list("kind", &ResourceSlice::kind, cdi::required);
    list("metadata", &ResourceSlice::metadata, cdi::required);
    list("spec", &ResourceSlice::spec, cdi::required);
  }
};

/// Slices as a list for kubectl: the result of `cdi-prepare slices` and of `cdi-pod slices`.
struct SliceList {
  std::string_view api_version = "v1";
  std::string_view kind = "List";
  std::vector<ResourceSlice> items{};

  static constexpr void fields(auto& list) {
    list("apiVersion", &SliceList::api_version, cdi::required);
    list("kind", &SliceList::kind, cdi::required);
    list("items", &SliceList::items, cdi::required);
  }
};

}  // namespace kubernetes
