// Reads what kubelet records about the devices of pods on a node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../kit/host/host_tree.hpp"

// Kubernetes 1.37.2: pkg/kubelet/cm/dra/state and pkg/kubelet/cm/devicemanager/checkpoint; the
// first file has the form of 1.32 and later.

namespace kubelet {

/// A device that a DRA driver prepared for a claim.
struct PreparedDevice {
  std::string driver{};
  std::string pool{};
  std::string device{};
  std::vector<std::string> requests{};
  std::vector<std::string> cdi_ids{};

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) {  // `driver` is the key of the enclosing map
    list("PoolName", &PreparedDevice::pool);
    list("DeviceName", &PreparedDevice::device);
    list("RequestNames", &PreparedDevice::requests);
    list("CDIDeviceIDs", &PreparedDevice::cdi_ids);
  }

  /// `driver/pool/device`, as in the status of a claim.
  std::string path() const { return driver + "/" + pool + "/" + device; }
};

/// A claim as kubelet knows it.
struct KnownClaim {
  std::string uid{};
  std::string name{};
  std::string space{};                 // its namespace
  std::vector<std::string> pods{};     // the UIDs of its pods
  std::vector<std::string> drivers{};  // all that have devices for it
  std::vector<PreparedDevice> devices{};

  /// Whether a driver has prepared devices.
  bool has_devices_of(std::string_view driver) const;
};

/// Devices that a device plugin gave to a container.
struct PluginDevices {
  std::string pod{};  // its UID
  std::string container{};
  std::string resource{};
  std::vector<std::string> ids{};
  std::vector<std::string> cdi_ids{};    // in the CRI field
  std::vector<std::string> annotated{};  // the CDI devices in annotations of the plugin
  bool is_torn = false;                  // the answer of the plugin cannot be read
};

/// The content of one of kubelet's files.
template <class Entry>
struct Checkpoint {
  std::string path{};
  bool exists = true;
  std::string damage{};  // why it cannot be used, here or by kubelet
  std::vector<Entry> entries{};
};

/// Reads the claims of kubelet's `dra_manager_state`.
Checkpoint<KnownClaim> read_claims(const tools::HostTree& tree, const std::string& dir);

/// Reads the devices in kubelet's `kubelet_internal_checkpoint`. Its checksum, which depends on how
/// Go prints its types, is not checked.
Checkpoint<PluginDevices> read_plugin_devices(const tools::HostTree& tree, const std::string& dir);

/// The UIDs of pods with a name, from the names of their log directories.
std::vector<std::string> logged_pods(const tools::HostTree& tree, const std::string& dir,
                                     const std::string& space, const std::string& name);

}  // namespace kubelet
