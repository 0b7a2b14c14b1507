// Runs a device plugin: its socket, its registration, and devices that pods no longer have.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "device_plugin.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <device_plugin.pb.h>
#include <exception>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "../../gpu/model/profile.hpp"
#include "../../kit/base/one_line.hpp"
#include "../protocol/grpc_client.hpp"
#include "../socket_names.hpp"
#include "plugin_devices.hpp"

namespace dra {

std::string PluginSettings::endpoint() const {
  auto name = resource;
  std::replace(name.begin(), name.end(), '/', '-');
  return "cdi-" + name + (instance.empty() ? "" : "-" + instance) + ".sock";
}

DevicePlugin::DevicePlugin(PluginSettings settings, NodeClaims& claims, const Log& log)
    : settings_{std::move(settings)},
      claims_{claims},
      log_{log},
      given_{claims},
      absence_{std::chrono::duration_cast<Absence::Clock::duration>(settings_.release_after)} {
  service_.add_to(methods_);
  claims_.observed = [this](const prepare::Claims& now) {
    observe(now);
  };
}

DevicePlugin::~DevicePlugin() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(ends_.get(), &one, sizeof one));
  if (thread_.joinable()) thread_.join();
  service_.end();
  server_.reset();
  claims_.observed = nullptr;
}

cdi::Result<void> DevicePlugin::start() {
  ends_ = cdi::Descriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!ends_) return cdi::file_error("eventfd", "cannot wait for events");
  auto watch = FolderWatch::open({settings_.folder()});
  if (!watch) return std::move(watch).error();
  watch_.emplace(std::move(*watch));
  if (auto listening = listen(); !listening) return listening;
  thread_ = std::thread{[this] {
    run();
  }};
  return {};
}

void DevicePlugin::run() {
  auto next_list = Clock::now();
  for (;;) {
    const bool is_known = act(next_list);
    const auto end = is_known ? next_list : std::min(next_list, Clock::now() + retry);
    const auto changes = watch_->polled();
    std::array<pollfd, 3> polled{pollfd{ends_.get(), POLLIN, 0}, changes[0], changes[1]};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<long>(left, 0, 60'000)));
    if (polled[0].revents != 0) return;
    watch_->drain();
  }
}

bool DevicePlugin::act(Clock::time_point& next_list) {
  try {
    const bool is_known = keep_registered();
    if (Clock::now() < next_list) return is_known;
    next_list = Clock::now() + between_lists();
    if (is_known) look_at_pods();
    return is_known;
  } catch (const std::exception& error) {
    return warn({.code = cdi::Errc::system, .message = error.what()});
  }
}

DevicePlugin::Clock::duration DevicePlugin::between_lists() const {
  const auto third = std::chrono::duration_cast<Clock::duration>(settings_.release_after / 3);
  return std::clamp<Clock::duration>(third, std::chrono::milliseconds{20}, max_between_lists);
}

std::optional<cdi::Signature> DevicePlugin::kubelet_file() const {
  struct stat info = {};
  if (::stat(kubelet_socket().c_str(), &info) != 0) return std::nullopt;
  return cdi::signature_of(info);
}

cdi::Result<void> DevicePlugin::listen() {
  if (server_ && server_->has_file()) return {};
  service_.end();
  server_.reset();
  registered_.reset();
  if (auto made = make_kubelet_folder(settings_.folder()); !made) return made;
  auto listening = GrpcServer::listen(settings_.folder() + "/" + settings_.endpoint(), methods_);
  if (!listening) return std::move(listening).error();
  server_ = std::move(*listening);
  log_.write({.event = "serving", .path = server_->path()});
  return {};
}

bool DevicePlugin::keep_registered() {
  if (auto listening = listen(); !listening) return warn(listening.error());
  const auto kubelet = kubelet_file();
  if (kubelet && kubelet == registered_) return true;
  registered_.reset();
  forget_absence();
  if (!kubelet) return true;  // the folder changes when it starts
  deviceplugin::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(settings_.endpoint());
  request.set_resource_name(settings_.resource);
  *request.mutable_options() = plugin_options();
  const auto done = call_method<deviceplugin::Empty>(
      kubelet_socket(), "/v1beta1.Registration/Register", request, std::chrono::seconds{5});
  if (!done) return warn(done.error());
  registered_ = kubelet;
  warned_.clear();
  log_.write({.event = "registered", .name = settings_.resource, .path = server_->path()});
  return true;
}

void DevicePlugin::observe(const prepare::Claims& now) {
  const auto profiles = prepare::profiles_named(claims_.options().profile);
  const auto& driver = claims_.places().driver;
  const auto changed = service_.set(plugin_devices(now, settings_.resource, driver, profiles));
  for (const auto& [name, device] : changed) {
    log_.write({.event = device.fault.empty() ? "healthy" : "unhealthy",
                .name = settings_.resource,
                .devices = {name},
                .error = tools::one_line(device.fault)});
  }
  auto given = GivenDevices::among(now, driver);
  const std::lock_guard lock{names_mutex_};
  if (given == names_) return;
  names_ = std::move(given);
  if (given_changed) given_changed(names_);
}

std::set<std::string> DevicePlugin::names() {
  const std::lock_guard lock{names_mutex_};
  return names_;
}

cdi::Result<std::vector<std::string>> DevicePlugin::allocate(
    const std::vector<std::string>& devices, const Call& call) {
  const std::lock_guard lock{mutex_};
  for (const auto& name : devices) absence_.forget(name);
  auto given = given_.give(devices, call);
  LogLine line{
      .event = given ? "allocated" : "failed", .name = settings_.resource, .devices = devices};
  if (given) {
    line.ids = *given;
  } else {
    line.error = tools::one_line(to_string(given.error()));
  }
  log_.write(line);
  return given;
}

std::unique_lock<std::timed_mutex> DevicePlugin::lock_absence() {
  std::unique_lock lock{mutex_, std::defer_lock};
  while (!lock.try_lock_for(std::chrono::milliseconds{100})) {
    pollfd ends{ends_.get(), POLLIN, 0};
    if (::poll(&ends, 1, 0) > 0) break;
  }
  return lock;
}

void DevicePlugin::forget_absence() {
  if (const auto lock = lock_absence()) absence_.forget();
}

void DevicePlugin::look_at_pods() {
  if (!registered_) return;
  const auto socket = settings_.kubelet_dir + "/pod-resources/kubelet.sock";
  const auto in_use = devices_of_pods(socket);
  if (!in_use) {
    warn(in_use.error());
    return forget_absence();
  }
  const auto lock = lock_absence();
  if (!lock) return;
  const auto known = names();
  for (const auto& name : *in_use) {
    if (known.contains(name) || !service_.has(name)) continue;
    if (auto adopted = given_.adopt({name}); !adopted) {
      warn(adopted.error());
    } else {
      log_.write({.event = "adopted", .name = settings_.resource, .devices = {name}});
    }
  }
  const auto freed = absence_.freed(known, *in_use, Clock::now());
  if (freed.empty()) return;
  if (auto taken = given_.take_back(freed); !taken) {
    warn(taken.error());
  } else {
    log_.write({.event = "freed", .name = settings_.resource, .devices = freed});
  }
}

bool DevicePlugin::warn(const cdi::Error& error) {
  auto text = tools::one_line(to_string(error));
  if (warned_.insert(text).second) log_.write({.event = "warning", .error = std::move(text)});
  return false;
}

}  // namespace dra
