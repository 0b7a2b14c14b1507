// Checks whether a driver answers on its sockets.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <dra.pb.h>
#include <registration.pb.h>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../protocol/grpc_client.hpp"
#include "../socket_names.hpp"
#include "results.hpp"

namespace dra {

/// The sockets of an instance of a driver. Each gets a harmless request of a kubelet, but none to
/// prepare claims: it would wait behind calls that wait for the API server, and a probe would end
/// the driver.
inline std::vector<SocketState> ask_sockets(const SocketNames& names) {
  constexpr std::chrono::seconds patience{10};  // the first call of a kubelet
  const auto state = [&](std::string use, const std::string& path, const auto& answer) {
    SocketState out{.use = std::move(use), .path = path};
    if (!answer) out.fault = to_string(answer.error());
    return out;
  };
  const auto info = call_method<registration::PluginInfo>(
      names.registration, "/pluginregistration.Registration/GetInfo", registration::InfoRequest{},
      patience);
  const auto released = call_method<node::NodeUnprepareResourcesResponse>(
      names.service, "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources",
      node::NodeUnprepareResourcesRequest{}, patience);
  auto registration = state("registration", names.registration, info);
  if (info && info->endpoint() != names.service) {
    registration.fault = fmt::format("it names the socket {}", info->endpoint());
  }
  return {std::move(registration), state("claims", names.service, released)};
}

}  // namespace dra
