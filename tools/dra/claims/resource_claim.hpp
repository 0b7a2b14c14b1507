// Reads ResourceClaims of the Kubernetes API, as far as a driver needs them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/model/any_value.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

#include "../../kit/kubernetes/resource_claim.hpp"
#include "api_limits.hpp"

namespace dra {

using kubernetes::AllocatedDevice;

/// Opaque parameters for one driver: an item of `status.allocation.devices.config`.
struct DeviceParameters {
  bool from_class = false;              // of the DeviceClass, and not of the claim
  std::vector<std::string> requests{};  // empty: all; "gpu" includes "gpu/large"
  cdi::AnyValue value{};                // of `opaque.parameters`
  std::string path{};                   // of that value in the claim, for messages

  friend bool operator==(const DeviceParameters&, const DeviceParameters&) = default;
};

/// A claim, with its allocation for one driver.
struct ResourceClaim {
  std::string name_space{};
  std::string name{};
  std::string uid{};
  bool is_allocated = false;
  std::vector<AllocatedDevice> devices{};  // of the driver
  std::vector<DeviceParameters> config{};  // for the driver; later ones count more
};

namespace detail {

inline ResourceClaim claim_for(std::string_view driver, kubernetes::Claim claim) {
  auto& [name_space, name, uid, owners] = claim.metadata;
  ResourceClaim out{.name_space = std::move(name_space),
                    .name = std::move(name),
                    .uid = std::move(uid),
                    .is_allocated = claim.status.allocation.has_value()};
  if (!out.is_allocated) return out;
  auto& [results, config] = claim.status.allocation->devices;
  std::erase_if(results, [&](const AllocatedDevice& device) { return device.driver != driver; });
  out.devices = std::move(results);
  for (std::size_t i = 0; i < config.size(); ++i) {
    auto& [source, requests, opaque] = config[i];
    if (!opaque || opaque->driver != driver) continue;
    out.config.push_back(
        {.from_class = source == "FromClass",
         .requests = std::move(requests),
         .value = std::move(opaque->parameters),
         .path = fmt::format("status.allocation.devices.config[{}].opaque.parameters", i)});
  }
  // The API server writes them in this order; a file may not.
  std::stable_partition(out.config.begin(), out.config.end(),
                        [](const DeviceParameters& one) { return one.from_class; });
  return out;
}

/// Rejects an object of an API version that this file does not read.
inline cdi::Result<void> check_type(std::string_view version, std::string_view kind,
                                    std::string_view wanted) {
  const auto reject = [](std::string message, const char* where) {
    return cdi::Error{.code = cdi::Errc::schema, .message = std::move(message), .where = where};
  };
  if (kind != wanted) return reject(fmt::format("must be {}", wanted), "kind");
  for (const auto* const known :
       {"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"}) {
    if (version == known) return {};
  }
  return reject("must be resource.k8s.io/v1, resource.k8s.io/v1beta2 or resource.k8s.io/v1beta1",
                "apiVersion");
}

/// The claims in an object, whose types are checked.
inline cdi::Result<std::vector<kubernetes::Claim>> read_claims(const cdi::Document& document) {
  auto all = cdi::read<kubernetes::Claims>(document);
  if (!all) return std::move(all).error();
  if (all->kind == "List") {
    for (std::size_t i = 0; i < all->items.size(); ++i) {
      auto good = check_type(all->items[i].version, all->items[i].kind, "ResourceClaim");
      if (!good) return std::move(good).error().under(fmt::format("items[{}]", i));
    }
    return std::move(all->items);
  }
  const bool is_list = all->kind == "ResourceClaimList";
  auto good = check_type(all->version, all->kind, is_list ? all->kind : "ResourceClaim");
  if (!good) return std::move(good).error();
  if (is_list) return std::move(all->items);
  auto claim = cdi::read<kubernetes::Claim>(document);
  if (!claim) return std::move(claim).error();
  return std::vector<kubernetes::Claim>{*std::move(claim)};
}

}  // namespace detail

/// Reads a ResourceClaim, a ResourceClaimList or a List of ResourceClaims from JSON, with the
/// allocation for one driver. Members that a driver does not need are ignored. `file` is for
/// messages. Fails with `Errc::syntax`, `Errc::limit`, or `Errc::schema`, which names the member.
inline cdi::Result<std::vector<ResourceClaim>> parse_resource_claims(
    std::string_view text, std::string_view driver, std::string_view file,
    const cdi::Limits& limits = {}) {
  const auto document = cdi::parse_json(text, file, limits);
  if (!document) return document.error();
  auto claims = detail::read_claims(*document);
  if (!claims) {
    claims.error().position.file = file;
    return std::move(claims).error();
  }
  std::vector<ResourceClaim> out;
  for (auto& claim : *claims) out.push_back(detail::claim_for(driver, std::move(claim)));
  return out;
}

/// Reads one ResourceClaim, as above.
inline cdi::Result<ResourceClaim> parse_resource_claim(std::string_view text,
                                                       std::string_view driver,
                                                       std::string_view file) {
  auto claims = parse_resource_claims(text, driver, file, api_limits);
  if (!claims) return std::move(claims).error();
  if (claims->size() == 1) return std::move(claims->front());
  return cdi::Error{.code = cdi::Errc::schema,
                    .message = "must be one ResourceClaim",
                    .position = {.file = std::string{file}}};
}

}  // namespace dra
