// Reads objects of Kubernetes for `size` and `peerpod`: pods, ResourceClaims, DeviceClasses.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/heap_optional.hpp>

#include "../kit/kubernetes/resource_claim.hpp"
#include "input.hpp"
#include "quantity.hpp"

// Kubernetes 1.37: core v1; resource.k8s.io v1, v1beta2 and v1beta1, in which a request has the
// members of `exactly` itself.

namespace pod {

/// Part of an object, which has more members.
struct Foreign {
  static constexpr bool skips_unknown = true;
};

/// Amounts by resource name, such as `cpu`.
using ResourceList = std::map<std::string, Quantity, std::less<>>;
/// Amounts as an object has them: texts or numbers.
using WrittenAmounts = std::map<std::string, cdi::AnyValue>;

/// The name of a ResourceClaim in a pod.
struct ClaimName : Foreign {
  std::string name{};
  std::string object{};   // the name of the ResourceClaim; empty if it is made from a template
  std::string request{};  // the request that a container uses; empty: all

  static constexpr void fields(auto& list) {
    list("name", &ClaimName::name, cdi::required);
    list("resourceClaimName", &ClaimName::object);
    list("request", &ClaimName::request);
  }
};

struct Requirements : Foreign {
  WrittenAmounts written_requests{};
  WrittenAmounts written_limits{};
  std::vector<ClaimName> claims{};
  ResourceList requests{};  // `read_amounts` sets these two
  ResourceList limits{};

  static constexpr void fields(auto& list) {
    list("requests", &Requirements::written_requests);
    list("limits", &Requirements::written_limits);
    list("claims", &Requirements::claims);
  }
};

struct Container : Foreign {
  std::string name{};
  std::string restart_policy{};  // Always: an init container is a sidecar
  Requirements resources{};

  static constexpr void fields(auto& list) {
    list("name", &Container::name);
    list("restartPolicy", &Container::restart_policy);
    list("resources", &Container::resources);
  }
};

/// A request of a claim, or one way to satisfy it.
struct DeviceRequest : Foreign {
  std::string name{};
  std::string device_class{};
  std::uint32_t count = 1;
  std::string allocation_mode{};
  std::vector<cdi::AnyValue> selectors{};
  cdi::HeapOptional<DeviceRequest> exactly{};
  std::optional<std::vector<DeviceRequest>> first_available{};

  static constexpr void fields(auto& list) {
    list("name", &DeviceRequest::name);
    list("deviceClassName", &DeviceRequest::device_class);
    list("count", &DeviceRequest::count);
    list("allocationMode", &DeviceRequest::allocation_mode);
    list("selectors", &DeviceRequest::selectors);
    list("exactly", &DeviceRequest::exactly);
    list("firstAvailable", &DeviceRequest::first_available);
  }
};

/// The devices that a claim requests.
struct ClaimDevices : Foreign {
  std::vector<DeviceRequest> requests{};

  static constexpr void fields(auto& list) { list("requests", &ClaimDevices::requests); }
};

struct ObjectSpec : Foreign {
  std::string runtime_class{};
  std::vector<Container> containers{};
  std::vector<Container> init_containers{};
  Requirements resources{};  // of the whole pod
  std::vector<ClaimName> claims{};
  WrittenAmounts written_overhead{};
  ResourceList overhead{};
  ClaimDevices devices{};       // of a ResourceClaim
  std::string resource_name{};  // of a DeviceClass

  static constexpr void fields(auto& list) {
    list("runtimeClassName", &ObjectSpec::runtime_class);
    list("containers", &ObjectSpec::containers);
    list("initContainers", &ObjectSpec::init_containers);
    list("resources", &ObjectSpec::resources);
    list("resourceClaims", &ObjectSpec::claims);
    list("overhead", &ObjectSpec::written_overhead);
    list("devices", &ObjectSpec::devices);
    list("extendedResourceName", &ObjectSpec::resource_name);
  }
};

struct ObjectStatus : Foreign {
  std::vector<ClaimName> claims{};  // that were made from templates
  std::optional<kubernetes::Allocation> allocation{};

  static constexpr void fields(auto& list) {
    list("resourceClaimStatuses", &ObjectStatus::claims);
    list("allocation", &ObjectStatus::allocation);
  }
};

/// The metadata of an object, or a reference to its owner.
struct Metadata : Foreign {
  std::string name{};
  std::string space{};  // its namespace; may be unknown
  std::string uid{};
  Annotations annotations{};
  std::vector<Metadata> owners{};
  std::string api_version{};  // of an owner, as the members below
  std::string kind{};
  bool controller = false;

  static constexpr void fields(auto& list) {
    list("name", &Metadata::name);
    list("namespace", &Metadata::space);
    list("uid", &Metadata::uid);
    list("annotations", &Metadata::annotations);
    list("ownerReferences", &Metadata::owners);
    list("apiVersion", &Metadata::api_version);
    list("kind", &Metadata::kind);
    list("controller", &Metadata::controller);
  }
};

/// An object, or a list of objects.
struct Object : Foreign {
  std::string kind{};
  Metadata metadata{};
  ObjectSpec spec{};
  ObjectStatus status{};
  std::vector<Object> items{};
  Place place{};  // `add_objects` sets it

  static constexpr void fields(auto& list) {
    list("kind", &Object::kind);
    list("metadata", &Object::metadata);
    list("spec", &Object::spec);
    list("status", &Object::status);
    list("items", &Object::items);
  }
};

/// The ways to satisfy a request of a claim. Valid as long as the request.
inline std::vector<const DeviceRequest*> alternatives(const DeviceRequest& request) {
  if (!request.first_available) return {request.exactly ? &*request.exactly : &request};
  std::vector<const DeviceRequest*> out;
  for (const auto& one : *request.first_available) out.push_back(&one);
  return out;
}

/// Rejects a claim without a name, or with more than Kubernetes allows.
inline void check_claim(const Object& claim) {
  constexpr std::size_t max = 32;
  const auto& requests = claim.spec.devices.requests;
  const auto& allocation = claim.status.allocation;
  bool many = requests.size() > max || (allocation && allocation->devices.results.size() > max);
  for (const auto& request : requests) {
    for (const auto* one : alternatives(request)) many = many || one->count > max;
  }
  if (many) claim.place.at("spec.devices").reject("has more than 32 requests or devices");
  if (claim.metadata.name.empty()) claim.place.at("metadata.name").reject("is missing");
}

/// The objects of an input: at most one pod, its claims, and the resources for which DeviceClasses
/// stand, by the name of the class.
struct Objects {
  std::optional<Object> pod{};
  std::vector<Object> claims{};
  std::map<std::string, std::string> resources{};

  /// Adds an object, or the objects of a list. An object without a kind has `kind`.
  void add(Object object, const Place& place, std::string kind = {}) {
    if (!object.kind.empty()) kind = object.kind;
    object.place = place;
    if (kind == "Pod") {
      if (pod) place.reject("is one more pod: give one, as `kubectl get pod NAME -o json` does");
      pod = std::move(object);
    } else if (kind == "ResourceClaim") {
      check_claim(object);
      claims.push_back(std::move(object));
    } else if (kind == "DeviceClass") {
      const auto& resource = object.spec.resource_name;
      if (!resource.empty()) resources[object.metadata.name] = resource;
    } else if (kind.ends_with("List")) {
      // The API leaves the kind out of the items of a list that has one kind.
      kind.erase(kind.size() - std::string_view{"List"}.size());
      for (std::size_t i = 0; i < object.items.size(); ++i) {
        add(std::move(object.items[i]), place.at("items").item(i), kind);
      }
    } else {
      place.at("kind").reject("must be Pod, ResourceClaim, DeviceClass, or a list of them");
    }
  }

  /// Adds the objects of a document.
  void add(const cdi::Document& document) { add(read_as<Object>(document), {&document, {}}); }
};

}  // namespace pod
