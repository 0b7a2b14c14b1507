// The device plugin service: reports devices to the kubelet, and gives them to containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "plugin_service.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "preferred_devices.hpp"

namespace dra {

deviceplugin::DevicePluginOptions plugin_options() {
  deviceplugin::DevicePluginOptions out;
  out.set_get_preferred_allocation_available(true);
  return out;
}

void PluginService::add_to(Methods& methods) {
  namespace api = deviceplugin;
  const std::string service = "/v1beta1.DevicePlugin/";
  methods.add(service + "GetDevicePluginOptions", [](std::string_view request, Call&) {
    return answer<api::Empty>(request, [](const api::Empty&) { return plugin_options(); });
  });
  methods.add(service + "PreStartContainer", [](std::string_view request, Call&) {
    return answer<api::PreStartContainerRequest>(
        request, [](const auto&) { return api::PreStartContainerResponse{}; });
  });
  methods.add(service + "GetPreferredAllocation", [this](std::string_view request, Call&) {
    return answer<api::PreferredAllocationRequest>(
        request, [this](const auto& asked) { return prefer(asked); });
  });
  methods.add(service + "Allocate", [this](std::string_view request, Call& call) {
    return answer<api::AllocateRequest>(request,
                                        [&](const auto& asked) { return allocate(asked, call); });
  });
  methods.add_stream(service + "ListAndWatch", [this](std::string_view, StreamPointer stream) {
    const std::lock_guard lock{mutex_};
    // Devices may not change for months, while kubelets come and go.
    std::erase_if(streams_, [](const StreamPointer& one) { return !one->is_open(); });
    stream->send(to_message());
    streams_.push_back(std::move(stream));
  });
}

PluginDevices PluginService::set(PluginDevices now) {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, device] : devices_) {
    now.emplace(name, PluginDevice{"it is gone from this host", device.numa_node});
  }
  if (now == devices_) return {};
  PluginDevices changed;
  for (const auto& [name, device] : now) {
    const auto before = devices_.find(name);
    const auto& fault = before == devices_.end() ? std::string{} : before->second.fault;
    if (device.fault != fault) changed.emplace(name, device);
  }
  devices_ = std::move(now);
  const auto message = to_message();
  std::erase_if(streams_, [&](const StreamPointer& stream) { return !stream->send(message); });
  return changed;
}

bool PluginService::has(const std::string& device) {
  const std::lock_guard lock{mutex_};
  return devices_.contains(device);
}

void PluginService::end() {
  const std::lock_guard lock{mutex_};
  for (const auto& stream : streams_) stream->end();
  streams_.clear();
}

std::string PluginService::to_message() const {
  deviceplugin::ListAndWatchResponse out;
  for (const auto& [name, device] : devices_) {
    auto& one = *out.add_devices();
    one.set_id(name);
    one.set_health(device.fault.empty() ? "Healthy" : "Unhealthy");
    if (device.numa_node) one.mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return out.SerializeAsString();
}

deviceplugin::PreferredAllocationResponse PluginService::prefer(
    const deviceplugin::PreferredAllocationRequest& asked) {
  const std::lock_guard lock{mutex_};
  deviceplugin::PreferredAllocationResponse out;
  for (const auto& one : asked.container_requests()) {
    const auto& available = one.available_deviceids();
    const auto& included = one.must_include_deviceids();
    auto& its = *out.add_container_responses();
    for (auto& name : preferred_devices({.available = {available.begin(), available.end()},
                      .must_include = {included.begin(), included.end()},
                      .size = static_cast<std::size_t>(std::max(one.allocation_size(), 0))},
                                        devices_)) {
      its.add_deviceids(std::move(name));
    }
  }
  return out;
}

cdi::Result<deviceplugin::AllocateResponse> PluginService::allocate(
    const deviceplugin::AllocateRequest& asked, const Call& call) const {
  deviceplugin::AllocateResponse out;
  for (const auto& one : asked.container_requests()) {
    auto given = allocate_({one.devices_ids().begin(), one.devices_ids().end()}, call);
    if (!given) return std::move(given).error();
    auto& its = *out.add_container_responses();
    for (auto& name : *given) its.add_cdi_devices()->set_name(std::move(name));
  }
  return out;
}

}  // namespace dra
