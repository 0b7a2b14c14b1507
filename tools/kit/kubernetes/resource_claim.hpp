// The ResourceClaims of the Kubernetes API, with the members that a tool reads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>

// They are the same in v1, v1beta2 and v1beta1 of resource.k8s.io.

namespace kubernetes {

/// A device that a claim got: an item of `status.allocation.devices.results`.
struct AllocatedDevice {
  std::string request{};  // "gpu", or "gpu/large" for a choice
  std::string pool{};
  std::string device{};       // the DNS label in the ResourceSlice
  std::string share_id{};     // of a device that several claims share; else empty
  bool admin_access = false;  // to observe a device of other claims
  std::string driver{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("request", &AllocatedDevice::request, cdi::required);
    list("driver", &AllocatedDevice::driver, cdi::required);
    list("pool", &AllocatedDevice::pool, cdi::required);
    list("device", &AllocatedDevice::device, cdi::required);
    list("shareID", &AllocatedDevice::share_id);
    list("adminAccess", &AllocatedDevice::admin_access);
  }

  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

struct OpaqueConfig {
  std::string driver{};
  cdi::AnyValue parameters{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("driver", &OpaqueConfig::driver, cdi::required);
    list("parameters", &OpaqueConfig::parameters, cdi::required);
  }
};

struct DeviceConfig {
  std::string source{};
  std::vector<std::string> requests{};
  std::optional<OpaqueConfig> opaque{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("source", &DeviceConfig::source, cdi::required);
    list("requests", &DeviceConfig::requests);
    list("opaque", &DeviceConfig::opaque);
  }
};

struct DeviceAllocation {
  std::vector<AllocatedDevice> results{};
  std::vector<DeviceConfig> config{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("results", &DeviceAllocation::results);
    list("config", &DeviceAllocation::config);
  }
};

struct Allocation {
  DeviceAllocation devices{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) { list("devices", &Allocation::devices); }
};

/// A pod that may use a claim, or another owner of it.
struct Reference {
  std::string kind{};
  std::string name{};
  std::string uid{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("kind", &Reference::kind);
    list("name", &Reference::name);
    list("uid", &Reference::uid);
  }
};

struct ClaimStatus {
  std::optional<Allocation> allocation{};
  std::vector<Reference> reserved{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("allocation", &ClaimStatus::allocation);
    list("reservedFor", &ClaimStatus::reserved);
  }
};

struct Metadata {
  std::string name_space = "default";
  std::string name{};
  std::string uid{};
  std::vector<Reference> owners{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("namespace", &Metadata::name_space);
    list("name", &Metadata::name, cdi::required);
    list("uid", &Metadata::uid);
    list("ownerReferences", &Metadata::owners);
  }
};

struct Claim {
  std::string version{};
  std::string kind{};
  Metadata metadata{};
  ClaimStatus status{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("apiVersion", &Claim::version);
    list("kind", &Claim::kind);
    list("metadata", &Claim::metadata, cdi::required);
    list("status", &Claim::status);
  }
};

/// A list of claims, or a claim, which has no items.
struct Claims {
  std::string version{};
  std::string kind{};
  std::vector<Claim> items{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("apiVersion", &Claims::version);
    list("kind", &Claims::kind);
    list("items", &Claims::items);
  }
};

}  // namespace kubernetes
