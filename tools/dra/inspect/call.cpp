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

prepare::Json to_json(const node::Device& device) {
  prepare::Json out{{"request_names", prepare::Json::array()},
                    {"pool_name", device.pool_name()},
                    {"device_name", device.device_name()},
                    {"cdi_device_ids", prepare::Json::array()}};
  for (const auto& name : device.request_names()) out["request_names"].push_back(name);
  for (const auto& id : device.cdi_device_ids()) out["cdi_device_ids"].push_back(id);
  if (device.has_share_id()) out["share_id"] = device.share_id();
  return out;
}

/// Sorts the answers as the claims, because maps have a random order.
template <class Answer, class Act>
CallAnswer to_json(const std::vector<ResourceClaim>& claims, const Answer& answer, const Act& add) {
  CallAnswer out{.json = prepare::result_json({{"claims", prepare::Json::object()}})};
  for (const auto& claim : claims) {
    const auto found = answer.claims().find(claim.uid);
    if (found == answer.claims().end()) continue;
    auto one = prepare::Json::object();
    add(found->second, one);
    if (!found->second.error().empty()) {
      one["error"] = found->second.error();
      out.is_good = false;
    }
    out.json["claims"][claim.uid] = std::move(one);
  }
  return out;
}

cdi::Result<CallAnswer> call_prepare(const std::string& socket,
                                     const std::vector<ResourceClaim>& claims) {
  const auto answer = call_method<node::NodePrepareResourcesResponse>(
      socket, std::string{called_service} + "NodePrepareResources",
      request_about<node::NodePrepareResourcesRequest>(claims), kubelet_patience);
  if (!answer) return answer.error();
  return to_json(claims, *answer, [](const auto& claim, prepare::Json& out) {
    out["devices"] = prepare::Json::array();
    for (const auto& device : claim.devices()) out["devices"].push_back(to_json(device));
  });
}

cdi::Result<CallAnswer> call_unprepare(const std::string& socket,
                                       const std::vector<ResourceClaim>& claims) {
  const auto answer = call_method<node::NodeUnprepareResourcesResponse>(
      socket, std::string{called_service} + "NodeUnprepareResources",
      request_about<node::NodeUnprepareResourcesRequest>(claims), kubelet_patience);
  if (!answer) return answer.error();
  return to_json(claims, *answer, [](const auto&, prepare::Json&) {});
}

}  // namespace

cdi::Result<CallAnswer> call_driver(std::string_view what, const SocketNames& sockets,
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
