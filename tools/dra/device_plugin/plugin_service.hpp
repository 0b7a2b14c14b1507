// The device plugin service: reports devices to the kubelet, and gives them to containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <device_plugin.pb.h>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../protocol/grpc_server.hpp"
#include "plugin_devices.hpp"

namespace dra {

/// The options of the plugin, for the kubelet.
deviceplugin::DevicePluginOptions plugin_options();

/// The devices, and the streams that report them. Any thread may call it.
class PluginService {
 public:
  using Names = std::vector<std::string>;
  using Allocate = std::function<cdi::Result<Names>(const Names& devices, const Call& call)>;

  /// `allocate` returns the CDI names of devices that a container gets.
  explicit PluginService(Allocate allocate) : allocate_{std::move(allocate)} {}

  /// Adds the methods; this object must outlive `methods`.
  void add_to(Methods& methods);

  /// Sends changed devices to the kubelet. Devices that are gone stay in the list as unhealthy,
  /// because pods may still have them. Returns the devices whose fault changed.
  PluginDevices set(PluginDevices now);

  /// Whether a device was reported to the kubelet.
  bool has(const std::string& device);

  /// Ends all streams.
  void end();

 private:
  std::string to_message() const;

  deviceplugin::PreferredAllocationResponse prefer(
      const deviceplugin::PreferredAllocationRequest& asked);

  cdi::Result<deviceplugin::AllocateResponse> allocate(const deviceplugin::AllocateRequest& asked,
                                                       const Call& call) const;

  const Allocate allocate_;
  std::mutex mutex_{};
  PluginDevices devices_{};
  std::vector<StreamPointer> streams_{};
};

}  // namespace dra
