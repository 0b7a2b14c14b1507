// The DRA service: prepares and unprepares the claims of pods.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "claim_service.hpp"

#include <chrono>
#include <cstdint>
#include <dra.pb.h>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../kit/base/one_line.hpp"
#include "claims/claim_source.hpp"

namespace dra {

namespace {

/// The versions of the service, which differ only in the member share_id.
enum class DraVersion { v1beta1, v1 };

/// The claims of a request, each once.
template <class Request>
std::vector<ClaimName> names_in(const Request& request) {
  std::vector<ClaimName> out;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  for (const auto& claim : request.claims()) {
    if (!known.emplace(claim.uid(), claim.namespace_(), claim.name()).second) continue;
    out.push_back({.name_space = claim.namespace_(), .name = claim.name(), .uid = claim.uid()});
  }
  return out;
}

std::int64_t microseconds_since(Call::Clock::time_point start) {
  using Microseconds = std::chrono::microseconds;
  return std::chrono::duration_cast<Microseconds>(Call::Clock::now() - start).count();
}

node::Device to_message(const PreparedDevice& device, DraVersion version) {
  node::Device out;
  out.add_request_names(device.request);
  out.set_pool_name(device.pool);
  out.set_device_name(device.device);
  out.add_cdi_device_ids(device.cdi_id);
  if (version == DraVersion::v1 && !device.share_id.empty()) out.set_share_id(device.share_id);
  return out;
}

/// Carries out a call for the claims of a request, and answers and logs each. `act` returns the
/// outcomes; `fill` adds a good outcome to the answer and to its log line, which begins as `good`.
template <class Response, class Request, class Act, class Fill>
cdi::Result<Response> answer_each(const Request& request, const Log& log, const LogLine& good,
                                  const Act& act, const Fill& fill) {
  Response out;
  const auto names = names_in(request);
  if (names.empty()) return out;
  const auto start = Call::Clock::now();
  const auto done = act(names);
  if (!done) {
    log.write({.event = "failed", .error = tools::one_line(to_string(done.error()))});
    return done.error();
  }
  const auto microseconds = microseconds_since(start);
  for (const auto& one : *done) {
    auto& its = (*out.mutable_claims())[one.claim.uid];
    LogLine line = one.result ? good : LogLine{.event = "failed"};
    line.microseconds = microseconds;
    if (one.result) {
      fill(one, its, line);
    } else {
      its.set_error(text_for_kubelet(one.result.error()));
      line.error = tools::one_line(its.error());
    }
    log.write(line.about(one.claim));
  }
  return out;
}

cdi::Result<node::NodePrepareResourcesResponse> prepare_claims(
    const node::NodePrepareResourcesRequest& request, const Call& call, NodeClaims& claims,
    const Log& log, DraVersion version) {
  return answer_each<node::NodePrepareResourcesResponse>(
      request, log, {.event = "prepared"},
      [&](const auto& names) { return claims.prepare(names, call); },
      [version](const Prepared& one, auto& its, LogLine& line) {
        for (const auto& device : *one.result) {
          *its.add_devices() = to_message(device, version);
          line.devices.push_back(device.device);
          line.ids.push_back(device.cdi_id);
        }
      });
}

cdi::Result<node::NodeUnprepareResourcesResponse> unprepare_claims(
    const node::NodeUnprepareResourcesRequest& request, const Call& call, NodeClaims& claims,
    const Log& log) {
  return answer_each<node::NodeUnprepareResourcesResponse>(
      request, log, {.event = "unprepared"},
      [&](const auto& names) { return claims.unprepare(names, call); },
      [](const auto&, auto&, LogLine&) {});
}

}  // namespace

void add_claim_service(Methods& methods, NodeClaims& claims, const Log& log) {
  for (const auto version : {DraVersion::v1, DraVersion::v1beta1}) {
    const std::string service = std::string{"/k8s.io.kubelet.pkg.apis.dra."}
                                    .append(version == DraVersion::v1 ? "v1" : "v1beta1")
                                    .append(".DRAPlugin/");
    methods.add(service + "NodePrepareResources",
                [&claims, &log, version](std::string_view request, Call& call) {
                  using Request = node::NodePrepareResourcesRequest;
                  return answer<Request>(request, [&](const Request& decoded) {
                    return prepare_claims(decoded, call, claims, log, version);
                  });
                });
    methods.add(service + "NodeUnprepareResources",
                [&claims, &log](std::string_view request, Call& call) {
                  using Request = node::NodeUnprepareResourcesRequest;
                  return answer<Request>(request, [&](const Request& decoded) {
                    return unprepare_claims(decoded, call, claims, log);
                  });
                });
  }
}

}  // namespace dra
