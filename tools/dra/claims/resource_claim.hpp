// A ResourceClaim of the Kubernetes API, as far as a driver reads it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_RESOURCE_CLAIM_HPP
#define CDI_TOOLS_DRA_CLAIMS_RESOURCE_CLAIM_HPP

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>

#include "json_object.hpp"

namespace dra {

/// A device of one driver that a claim got: an item of `status.allocation.devices.results`.
struct AllocatedDevice {
  std::string request{};  // "gpu", or "gpu/large" for a choice
  std::string pool{};
  std::string device{};       // the DNS label in the ResourceSlice
  std::string share_id{};     // of a device that several claims have; else empty
  bool admin_access = false;  // to observe a device that others have

  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

/// Opaque parameters for one driver: an item of `status.allocation.devices.config`.
struct DeviceParameters {
  bool from_class = false;              // of the DeviceClass, and not of the claim
  std::vector<std::string> requests{};  // empty: all; "gpu" includes "gpu/large"
  std::string json{};                   // the value of `opaque.parameters`
  std::string path{};                   // of that value in the claim, for messages

  friend bool operator==(const DeviceParameters&, const DeviceParameters&) = default;
};

/// A claim, with what its allocation says about one driver.
struct ResourceClaim {
  std::string name_space{};
  std::string name{};
  std::string uid{};
  bool is_allocated = false;
  std::vector<AllocatedDevice> devices{};  // of the driver
  std::vector<DeviceParameters> config{};  // for the driver; later ones count more
};

namespace detail {

inline AllocatedDevice read_device(const JsonObject& result) {
  return {.request = result.required_text("request"),
          .pool = result.required_text("pool"),
          .device = result.required_text("device"),
          .share_id = result.text("shareID"),
          .admin_access = result.flag("adminAccess")};
}

inline DeviceParameters read_parameters(const JsonObject& config, const JsonObject& opaque) {
  const auto source = config.required_text("source");
  if (!source.empty() && source != "FromClass" && source != "FromClaim") {
    config.find("source").reject("must be FromClass or FromClaim");
  }
  const auto parameters = opaque.find("parameters");
  if (!parameters) parameters.reject("is missing");
  DeviceParameters out{
      .from_class = source == "FromClass", .json = parameters.json(), .path = parameters.path()};
  for (const auto& request : config.find("requests").items()) {
    out.requests.push_back(request.as_text());
  }
  return out;
}

inline void read_allocation(const JsonObject& devices, std::string_view driver,
                            ResourceClaim& claim) {
  for (const auto& result : devices.find("results").items()) {
    if (result.required_text("driver") == driver) claim.devices.push_back(read_device(result));
  }
  for (const auto& config : devices.find("config").items()) {
    const auto opaque = config.find("opaque");
    if (!opaque || opaque.required_text("driver") != driver) continue;
    claim.config.push_back(read_parameters(config, opaque));
  }
  // The API server writes them in this order; a file may not.
  std::stable_sort(claim.config.begin(), claim.config.end(),
                   [](const DeviceParameters& a, const DeviceParameters& b) {
                     return a.from_class && !b.from_class;
                   });
}

inline ResourceClaim read_claim(const JsonObject& object, std::string_view driver) {
  ResourceClaim claim;
  const auto metadata = object.find("metadata");
  if (!metadata) metadata.reject("is missing");
  claim.name_space = metadata.text("namespace");
  if (claim.name_space.empty()) claim.name_space = "default";
  claim.name = metadata.required_text("name");
  claim.uid = metadata.required_text("uid");
  const auto allocation = object.find("status").find("allocation");
  claim.is_allocated = bool{allocation};
  read_allocation(allocation.find("devices"), driver, claim);
  return claim;
}

/// Rejects an object that is not of a version of the API that this file reads. What a driver reads
/// of a claim is the same in all of them.
inline void check_type(const JsonObject& object, std::string_view wanted) {
  const auto kind = object.required_text("kind");
  const auto version = object.required_text("apiVersion");
  if (kind != wanted) object.find("kind").reject("must be " + std::string{wanted});
  if (version != "resource.k8s.io/v1" && version != "resource.k8s.io/v1beta2" &&
      version != "resource.k8s.io/v1beta1") {
    object.find("apiVersion")
        .reject("must be resource.k8s.io/v1, resource.k8s.io/v1beta2 or resource.k8s.io/v1beta1");
  }
}

inline std::vector<ResourceClaim> read_claims(const JsonObject& object, std::string_view driver) {
  std::vector<ResourceClaim> out;
  const auto kind = object.text("kind");
  if (kind == "ResourceClaimList") {
    check_type(object, kind);
    for (const auto& item : object.find("items").items()) out.push_back(read_claim(item, driver));
  } else if (kind == "List") {
    for (const auto& item : object.find("items").items()) {
      check_type(item, "ResourceClaim");
      out.push_back(read_claim(item, driver));
    }
  } else {
    check_type(object, "ResourceClaim");
    out.push_back(read_claim(object, driver));
  }
  return out;
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
  std::optional<cdi::Error> error;
  auto claims = detail::read_claims({document->root(), {}, error}, driver);
  if (error) return *std::move(error);
  return claims;
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

#endif  // CDI_TOOLS_DRA_CLAIMS_RESOURCE_CLAIM_HPP
