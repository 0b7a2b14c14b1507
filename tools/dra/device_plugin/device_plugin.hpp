// Runs a device plugin: its socket, its registration, and devices that pods no longer have.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/signature.hpp>

#include "../claims/node_claims.hpp"
#include "../folder_watch.hpp"
#include "../log.hpp"
#include "../protocol/grpc_server.hpp"
#include "given_devices.hpp"
#include "plugin_service.hpp"
#include "pod_devices.hpp"

namespace dra {

/// The settings of a device plugin.
struct PluginSettings {
  std::string resource{};     // such as nvidia.com/gpu
  std::string kubelet_dir{};  // absolute
  std::string instance{};     // as in `Settings`
  /// How long a device must be without a pod before it is free.
  std::chrono::duration<double> release_after{60};

  std::string folder() const { return kubelet_dir + "/device-plugins"; }

  /// The name of the plugin's socket in the folder.
  std::string endpoint() const;
};

/// A device plugin, with its own thread. The constructor's arguments must outlive it.
class DevicePlugin {
 public:
  /// Must be constructed before other threads start, and before the claims are used.
  DevicePlugin(PluginSettings settings, NodeClaims& claims, const Log& log);

  DevicePlugin(const DevicePlugin&) = delete;
  DevicePlugin& operator=(const DevicePlugin&) = delete;

  ~DevicePlugin();

  /// Called with the devices that pods have, when they change; by any thread. Set it before
  /// `start`.
  std::function<void(const std::set<std::string>&)> given_changed{};

  /// Starts to serve. A missing kubelet is not an error.
  cdi::Result<void> start();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds retry{1};
  static constexpr std::chrono::seconds max_between_lists{10};

  void run();

  /// Registers, and examines the pods when it is time. Returns whether nothing is left to do.
  /// Catches exceptions, which would end the program.
  bool act(Clock::time_point& next_list);

  Clock::duration between_lists() const;

  // The kubelet.

  std::string kubelet_socket() const { return settings_.folder() + "/kubelet.sock"; }

  std::optional<cdi::Signature> kubelet_file() const;

  cdi::Result<void> listen();

  /// Registers, unless this kubelet already knows the plugin. A starting kubelet removes the socket
  /// of the plugin, and makes its own again. Returns whether nothing is left to do.
  bool keep_registered();

  // Devices.

  /// Called with the lock of the claims.
  void observe(const prepare::Claims& now);

  std::set<std::string> names();

  cdi::Result<std::vector<std::string>> allocate(const std::vector<std::string>& devices,
                                                 const Call& call);

  /// Waits for calls that give devices; returns without the lock if the plugin ends, which ends
  /// them.
  std::unique_lock<std::timed_mutex> lock_absence();

  void forget_absence();

  /// Takes back devices that no pod has, and makes missing claims for devices of pods, which
  /// another plugin gave or whose journal was lost.
  void look_at_pods();

  /// Logs each text only once until the plugin is registered. Returns false.
  bool warn(const cdi::Error& error);

  const PluginSettings settings_;
  NodeClaims& claims_;
  const Log& log_;
  GivenDevices given_;
  std::timed_mutex mutex_{};  // of `absence_`; held until devices are given or taken back
  Absence absence_;
  std::mutex names_mutex_{};
  std::set<std::string> names_{};  // of the given devices
  PluginService service_{[this](const auto& devices, const Call& call) {
    return allocate(devices, call);
  }};
  Methods methods_{};
  std::optional<FolderWatch> watch_{};
  std::unique_ptr<GrpcServer> server_{};
  std::optional<cdi::Signature> registered_{};  // the socket of the kubelet that knows the plugin
  std::set<std::string> warned_{};              // of the thread
  cdi::Descriptor ends_{-1};
  std::thread thread_{};
};

}  // namespace dra
