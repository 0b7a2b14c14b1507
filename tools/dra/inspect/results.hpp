// What `cdi-dra` prints as JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>

#include "../../gpu/findings/finding.hpp"

// `version` is the version of a form, which changes if a member changes its meaning or is gone.

namespace dra {

/// A socket of a driver.
struct SocketState {
  std::string use{};  // "claims", "registration"
  std::string path{};
  std::optional<std::string> fault{};  // why it does not answer

  static constexpr void fields(auto& list) {
    list("use", &SocketState::use, cdi::required);
    list("path", &SocketState::path, cdi::required);
    list("fault", &SocketState::fault, cdi::required);
  }
};

/// A device of a claim in the journal.
struct DeviceState {
  std::optional<std::string> request{};
  std::string device{};
  std::string cdi_device{};

  static constexpr void fields(auto& list) {
    list("request", &DeviceState::request, cdi::required);
    list("device", &DeviceState::device, cdi::required);
    list("cdiDevice", &DeviceState::cdi_device, cdi::required);
  }
};

/// A claim in the journal of a driver.
struct ClaimState {
  std::string name_space{};
  std::string name{};
  std::vector<DeviceState> devices{};
  std::optional<std::string> spec{};   // the path of its spec; nothing if it cannot be read
  std::optional<std::string> fault{};  // why it cannot be used

  static constexpr void fields(auto& list) {
    list("namespace", &ClaimState::name_space, cdi::required);
    list("name", &ClaimState::name, cdi::required);
    list("devices", &ClaimState::devices, cdi::required);
    list("spec", &ClaimState::spec, cdi::required);
    list("fault", &ClaimState::fault, cdi::required);
  }
};

/// The state of a driver on its node: the result of `status`.
struct StatusResult {
  std::uint32_t version = 1;
  std::vector<SocketState> sockets{};
  std::map<std::string, ClaimState> claims{};  // by UID

  static constexpr void fields(auto& list) {
    list("version", &StatusResult::version, cdi::required);
    list("sockets", &StatusResult::sockets, cdi::required);
    list("claims", &StatusResult::claims, cdi::required);
  }
};

/// The result of `check`.
struct NodeCheckResult {
  std::uint32_t version = 1;
  std::vector<prepare::ShownFinding> findings{};

  static constexpr void fields(auto& list) {
    list("version", &NodeCheckResult::version, cdi::required);
    list("findings", &NodeCheckResult::findings, cdi::required);
  }
};

/// A device in the answer of a driver, with the names of the protocol.
struct CalledDevice {
  std::vector<std::string> request_names{};
  std::string pool_name{};
  std::string device_name{};
  std::vector<std::string> cdi_device_ids{};
  std::optional<std::string> share_id{};

  static constexpr void fields(auto& list) {
    list("request_names", &CalledDevice::request_names, cdi::required);
    list("pool_name", &CalledDevice::pool_name, cdi::required);
    list("device_name", &CalledDevice::device_name, cdi::required);
    list("cdi_device_ids", &CalledDevice::cdi_device_ids, cdi::required);
    list("share_id", &CalledDevice::share_id);
  }
};

/// A claim in the answer of a driver.
struct CalledClaim {
  std::optional<std::vector<CalledDevice>> devices{};  // of `call prepare`
  std::string error{};

  static constexpr void fields(auto& list) {
    list("devices", &CalledClaim::devices);
    list("error", &CalledClaim::error);
  }
};

/// The answer of a driver: the result of `call`.
struct CallResult {
  std::uint32_t version = 1;
  std::map<std::string, CalledClaim> claims{};  // by UID

  static constexpr void fields(auto& list) {
    list("version", &CallResult::version, cdi::required);
    list("claims", &CallResult::claims, cdi::required);
  }

  /// Whether no claim has an error.
  bool is_good() const {
    return std::all_of(claims.begin(), claims.end(),
                       [](const auto& one) { return one.second.error.empty(); });
  }
};

/// The CDI device of a device of a claim.
struct PodCdiDevice {
  std::string name{};

  static constexpr void fields(auto& list) { list("name", &PodCdiDevice::name, cdi::required); }
};

/// A device of a claim of a pod.
struct PodClaimDevice {
  std::vector<PodCdiDevice> cdi_devices{};
  std::string driver{}, pool{}, device{};

  static constexpr void fields(auto& list) {
    list("cdiDevices", &PodClaimDevice::cdi_devices, cdi::required);
    list("driverName", &PodClaimDevice::driver, cdi::required);
    list("poolName", &PodClaimDevice::pool, cdi::required);
    list("deviceName", &PodClaimDevice::device, cdi::required);
  }
};

/// A claim of a pod.
struct PodClaim {
  std::string name{}, name_space{};
  std::vector<PodClaimDevice> devices{};

  static constexpr void fields(auto& list) {
    list("claimName", &PodClaim::name, cdi::required);
    list("claimNamespace", &PodClaim::name_space, cdi::required);
    list("claimResources", &PodClaim::devices, cdi::required);
  }
};

/// Devices of a device plugin.
struct PodPluginDevices {
  std::string resource{};
  std::vector<std::string> ids{};

  static constexpr void fields(auto& list) {
    list("resourceName", &PodPluginDevices::resource, cdi::required);
    list("deviceIds", &PodPluginDevices::ids, cdi::required);
  }
};

/// A container of a pod.
struct PodContainer {
  std::string name{};
  std::vector<PodPluginDevices> devices{};
  std::vector<PodClaim> claims{};

  static constexpr void fields(auto& list) {
    list("name", &PodContainer::name, cdi::required);
    list("devices", &PodContainer::devices, cdi::required);
    list("dynamicResources", &PodContainer::claims, cdi::required);
  }
};

/// A pod that the kubelet lists.
struct ListedPod {
  std::string name{}, name_space{};
  std::vector<PodContainer> containers{};

  static constexpr void fields(auto& list) {
    list("name", &ListedPod::name, cdi::required);
    list("namespace", &ListedPod::name_space, cdi::required);
    list("containers", &ListedPod::containers, cdi::required);
  }
};

/// The answer of the kubelet's PodResources service, in the JSON form of its messages: the result
/// of `pod-resources`, which `cdi-pod podresources` reads.
struct PodResourcesResult {
  std::vector<ListedPod> pods{};

  static constexpr void fields(auto& list) {
    list("podResources", &PodResourcesResult::pods, cdi::required);
  }
};

}  // namespace dra
