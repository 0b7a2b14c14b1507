// The health service: sends the state of all devices to each watching caller.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <dra_health.pb.h>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../gpu/cdi_specs/prepared_spec.hpp"
#include "../gpu/model/profile.hpp"
#include "../gpu/slices/device_names.hpp"
#include "../gpu/survey/survey.hpp"
#include "../kit/base/one_line.hpp"
#include "protocol/grpc_server.hpp"

namespace dra {

/// The faults of devices by name; empty for usable devices.
using DeviceFaults = std::map<std::string, std::string>;

/// The states of all devices in a survey, for the uses in `profiles`.
inline DeviceFaults device_faults(const prepare::Survey& survey, prepare::Profiles profiles) {
  DeviceFaults out;
  for (const auto& device : prepare::all_devices(survey)) {
    const auto& fault = device.fault();
    const auto not_ready = prepare::reason_not_ready(*device.whole.inventory, profiles);
    out[prepare::dns_name(device)] = fault ? fault->text : not_ready ? not_ready->text : "";
  }
  return out;
}

/// The state of the devices, and the streams that report it. Any thread may call it.
class Health {
 public:
  /// The longest time between two reports: the kubelet ignores states that are older than three
  /// times that.
  static constexpr std::chrono::seconds interval{60};

  /// `watched` is called for each new stream, whose first state then comes from `set`.
  Health(std::string pool, std::function<void()> watched)
      : pool_{std::move(pool)}, watched_{std::move(watched)} {}

  void add_to(Methods& methods) {
    for (const auto* const path : {"/v1.DRAResourceHealth/NodeWatchResources",
                                   "/v1alpha1.DRAResourceHealth/NodeWatchResources"}) {
      methods.add_stream(path, [this](std::string_view, StreamPointer stream) {
        {
          const std::lock_guard lock{mutex_};
          streams_.push_back(std::move(stream));
        }
        watched_();
      });
    }
  }

  bool is_watched() {
    const std::lock_guard lock{mutex_};
    return !streams_.empty();
  }

  /// The devices whose state changed, with their faults. Devices that are gone have a fault.
  DeviceFaults set(const DeviceFaults& now) {
    const std::lock_guard lock{mutex_};
    DeviceFaults changed;
    for (auto& [name, fault] : faults_) {
      const auto found = now.find(name);
      const auto text = found == now.end() ? "it is gone from this host" : found->second;
      if (fault != text) changed[name] = text;
      fault = text;
    }
    for (const auto& [name, fault] : now) {
      if (faults_.emplace(name, fault).second && !fault.empty()) changed[name] = fault;
    }
    return changed;
  }

  /// Sends the state to all streams.
  void send() {
    const std::lock_guard lock{mutex_};
    const auto message = to_message().SerializeAsString();
    std::erase_if(streams_, [&](const StreamPointer& stream) { return !stream->send(message); });
  }

  /// Ends all streams.
  void end() {
    const std::lock_guard lock{mutex_};
    for (const auto& stream : streams_) stream->end();
    streams_.clear();
  }

 private:
  health::NodeWatchResourcesResponse to_message() const {
    constexpr std::size_t longest = 1000;  // the kubelet keeps 1024 bytes
    health::NodeWatchResourcesResponse out;
    for (const auto& [name, fault] : faults_) {
      auto& one = *out.add_devices();
      one.mutable_device()->set_pool_name(pool_);
      one.mutable_device()->set_device_name(name);
      one.set_health(fault.empty() ? health::HEALTHY : health::UNHEALTHY);
      one.set_last_updated_time(std::time(nullptr));
      one.set_health_check_timeout_seconds(3 * interval.count());
      one.set_message(cdi::escaped(fault, longest));
    }
    return out;
  }

  const std::string pool_;
  const std::function<void()> watched_;
  std::mutex mutex_{};
  DeviceFaults faults_{};
  std::vector<StreamPointer> streams_{};
};

}  // namespace dra
