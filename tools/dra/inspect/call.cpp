// Calls a driver as the kubelet does, to try it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "call.hpp"

#include <chrono>
#include <dra.pb.h>
#include <utility>
#include <vector>

#include <cdi/files/text_file.hpp>

#include "../claims/resource_claim.hpp"
#include "../protocol/grpc_client.hpp"

namespace dra {

namespace {

constexpr std::string_view called_service = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/";

/// How long the kubelet waits for an answer.
constexpr std::chrono::seconds kubelet_patience{45};

template <class Request>
Request request_about(const std::vector<ResourceClaim>& claims) {
  Request out;
  for (const auto& claim : claims) {
    auto& one = *out.add_claims();
    one.set_namespace_(claim.name_space);
    one.set_name(claim.name);
    one.set_uid(claim.uid);
  }
  return out;
}

CalledDevice shown(const node::Device& device) {
  const auto& names = device.request_names();
  const auto& ids = device.cdi_device_ids();
  CalledDevice out{.request_names = {names.begin(), names.end()},
                   .pool_name = device.pool_name(),
                   .device_name = device.device_name(),
                   .cdi_device_ids = {ids.begin(), ids.end()}};
  if (device.has_share_id()) out.share_id = device.share_id();
  return out;
}

/// The answers about the claims. `add` adds what an answer has besides its error.
template <class Answer, class Act>
CallResult shown(const std::vector<ResourceClaim>& claims, const Answer& answer, const Act& add) {
  CallResult out;
  for (const auto& claim : claims) {
    const auto found = answer.claims().find(claim.uid);
    if (found == answer.claims().end()) continue;
    auto& one = out.claims[claim.uid] = {.error = found->second.error()};
    add(found->second, one);
  }
  return out;
}

cdi::Result<CallResult> call_prepare(const std::string& socket,
                                     const std::vector<ResourceClaim>& claims) {
  const auto answer = call_method<node::NodePrepareResourcesResponse>(
      socket, std::string{called_service} + "NodePrepareResources",
      request_about<node::NodePrepareResourcesRequest>(claims), kubelet_patience);
  if (!answer) return answer.error();
  return shown(claims, *answer, [](const auto& claim, CalledClaim& out) {
    out.devices.emplace();
    for (const auto& device : claim.devices()) out.devices->push_back(shown(device));
  });
}

cdi::Result<CallResult> call_unprepare(const std::string& socket,
                                       const std::vector<ResourceClaim>& claims) {
  const auto answer = call_method<node::NodeUnprepareResourcesResponse>(
      socket, std::string{called_service} + "NodeUnprepareResources",
      request_about<node::NodeUnprepareResourcesRequest>(claims), kubelet_patience);
  if (!answer) return answer.error();
  return shown(claims, *answer, [](const auto&, CalledClaim&) {});
}

}  // namespace

cdi::Result<CallResult> call_driver(std::string_view what, const SocketNames& sockets,
                                    const std::string& driver, const std::string& file) {
  const auto text = cdi::read_file(file);
  if (!text) return text.error();
  const auto claims = parse_resource_claims(*text, driver, file);
  if (!claims) return claims.error();
  auto answer = what == "prepare" ? call_prepare(sockets.service, *claims)
                                  : call_unprepare(sockets.service, *claims);
  if (!answer && answer.error().code == cdi::Errc::system) {
    answer.error().advice =
        "start cdi-dra serve with the same --driver, --kubelet-dir and --instance";
  }
  return answer;
}

}  // namespace dra
