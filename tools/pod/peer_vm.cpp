// The VM of a peer pod whose devices the webhook of cloud-api-adaptor does not pass on: its
// instance type, and a CDI spec for its guest.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "peer_vm.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace pod {

namespace {

/// The resource for which a DeviceClass, or the driver of the same name, stands; empty if unknown.
std::string resource_of(const std::string& device_class, const Objects& objects) {
  const auto found = objects.resources.find(device_class);
  if (found != objects.resources.end()) return found->second;
  if (device_class == "gpu.amd.com") return "amd.com/gpu";
  if (device_class == "gpu.intel.com") return "gpu.intel.com/xe";
  const bool nvidia = device_class == "gpu.nvidia.com" || device_class == "vfio.gpu.nvidia.com";
  return nvidia ? "nvidia.com/gpu" : "";
}

/// The devices that a request of a claim has.
std::vector<const kubernetes::AllocatedDevice*> results_of(const Object& claim,
                                                           const std::string& request) {
  std::vector<const kubernetes::AllocatedDevice*> out;
  if (!claim.status.allocation) return out;
  for (const auto& one : claim.status.allocation->devices.results) {
    const bool same = one.request == request || one.request.starts_with(request + "/");
    if (same && !one.admin_access) out.push_back(&one);
  }
  return out;
}

/// Maps a request of a claim. Of several alternatives, the one counts that the scheduler chose, or
/// else the first that can be mapped.
MappedRequest map_request(const Object& claim, const DeviceRequest& request,
                          const Objects& objects) {
  MappedRequest out{.request = request.name};
  const auto results = results_of(claim, request.name);
  const auto all = alternatives(request);
  auto chosen = std::find_if(all.begin(), all.end(), [&](const auto* one) {
    if (!results.empty()) return results.front()->request == request.name + "/" + one->name;
    return one->allocation_mode != "All" && !resource_of(one->device_class, objects).empty();
  });
  if (chosen == all.end()) chosen = all.begin();
  if (chosen == all.end() || (*chosen)->device_class.empty()) {
    out.reason = "it has no device class";
    return out;
  }
  if (!results.empty() && results.front()->driver == instance_driver) {
    out.instance = results.front()->device;
    return out;
  }
  const auto& one = **chosen;
  out.resource = resource_of(one.device_class, objects);
  if (out.resource.empty() && !results.empty()) {
    out.resource = resource_of(results.front()->driver, objects);
  }
  out.has_selectors = !one.selectors.empty() && results.empty();
  if (out.resource.empty()) {
    out.reason = fmt::format(
        "it is unknown which resource DeviceClass {} stands for: pass --class {}=RESOURCE, or the "
        "DeviceClass with its extendedResourceName",
        cdi::quoted(one.device_class), one.device_class);
  } else if (claim.status.allocation) {
    out.count = static_cast<std::uint32_t>(results.size());
  } else if (one.allocation_mode == "All") {
    out.resource.clear();
    out.reason = "allocationMode All has no number before the claim is allocated";
  } else {
    out.count = one.count;
  }
  return out;
}

/// The nodes of a vendor's devices in a VM that has only them: `path` and a number for each device,
/// and nodes that all containers share.
struct GuestNodes {
  std::string_view resource;
  std::string_view path;
  std::uint32_t first;
  std::vector<std::string_view> shared;
};

/// The nodes of a resource; null if they are unknown.
const GuestNodes* guest_nodes(std::string_view resource) {
  static const std::array<GuestNodes, 4> rows{{
      {"nvidia.com/gpu",
       "/dev/nvidia",
       0,
       {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}},
      {"amd.com/gpu", "/dev/dri/renderD", 128, {"/dev/kfd"}},
      {"gpu.intel.com/xe", "/dev/dri/renderD", 128, {}},
      {"gpu.intel.com/i915", "/dev/dri/renderD", 128, {}},
  }};
  for (const auto& row : rows) {
    if (row.resource == resource) return &row;
  }
  return nullptr;
}

}  // namespace

void PeerVm::add_resource(const std::string& name, std::int64_t count) {
  constexpr std::int64_t max = 1'000'000;
  if (count == 0) return;
  const bool nvidia = name == "nvidia.com/gpu";
  is_beyond_webhook_ = is_beyond_webhook_ || !nvidia;
  auto& sum = nvidia ? need_.gpus : need_.devices[name];
  sum = static_cast<std::uint32_t>(std::min(sum + std::min(count, max), max));
}

void PeerVm::set_size(std::int64_t vcpus, std::int64_t memory_mib) {
  constexpr std::int64_t max = 0xffff'ffff;  // more than any VM has
  need_.vcpus = static_cast<std::uint32_t>(std::min(vcpus, max));
  need_.memory_mib = static_cast<std::uint32_t>(std::min(memory_mib, max));
}

bool PeerVm::add_claim(const Object& claim) {
  is_beyond_webhook_ = true;
  const auto [known, is_new] =
      mapped_.emplace(std::pair{claim.metadata.space, claim.metadata.name}, true);
  if (!is_new) return known->second;
  MappedClaim record{.claim = claim.metadata.name, .space = claim.metadata.space};
  for (const auto& request : claim.spec.devices.requests) {
    record.requests.push_back(map_request(claim, request, objects_));
    add_request(claim, record.requests.back());
    known->second = known->second && record.requests.back().reason.empty();
  }
  answer_.claims.push_back(std::move(record));
  return known->second;
}

void PeerVm::add_claims() {
  for (const auto& claim : objects_.claims) {
    has_namespaces_ =
        has_namespaces_ || claim.metadata.space != objects_.claims.front().metadata.space;
  }
  for (const auto& claim : objects_.claims) add_claim(claim);
  if (!has_namespaces_) return;
  answer_.warn(
      "the claims are of several namespaces, and a pod has claims of only one: pass one pod's");
}

std::string PeerVm::guest_device(const Object& claim, const std::string& request) const {
  const auto name = device_name(claim, request);
  return nodes_.contains(name) ? fmt::format("{}={}", claim_kind, name) : std::string{};
}

void PeerVm::finish(const std::optional<InstanceTypes>& types, const std::string& named) {
  if (!nodes_.empty()) answer_.guest_spec = cdi::Spec{.version = "0.3.0", .kind = claim_kind};
  for (const auto& [name, paths] : nodes_) {
    cdi::Device device{.name = name};
    for (const auto& path : paths) device.container_edits.device_nodes.push_back({.path = path});
    answer_.guest_spec->devices.push_back(std::move(device));
  }
  if (types) choose(*types, named);
}

std::string PeerVm::claim_name(const Object& claim, char separator) const {
  const auto& own = claim.metadata;
  return has_namespaces_ && !own.space.empty() ? own.space + separator + own.name : own.name;
}

std::string PeerVm::device_name(const Object& claim, const std::string& request) const {
  const auto name = claim_name(claim, '_');  // which a namespace does not have
  return request.empty() ? name : name + ":" + request;
}

void PeerVm::add_request(const Object& claim, const MappedRequest& one) {
  const auto what = fmt::format("request {} of ResourceClaim {}", cdi::quoted(one.request),
                                cdi::quoted(claim_name(claim, '/')));
  if (!one.instance.empty()) {
    instances_.push_back(one.instance);
  } else if (!one.reason.empty()) {
    answer_.warn("{} is not mapped: {}", what, one.reason);
  } else {
    add_resource(one.resource, *one.count);
    if (*one.count != 0) add_to_guest(claim, one, what);
  }
  if (one.has_selectors) answer_.warn("the selectors of {} are not evaluated", what);
}

void PeerVm::add_to_guest(const Object& claim, const MappedRequest& one, const std::string& what) {
  const auto* const known = guest_nodes(one.resource);
  if (known == nullptr) {
    answer_.warn("the device nodes of {}, for {}, are unknown: write a CDI spec in the guest",
                 cdi::quoted(one.resource), what);
    return;
  }
  const auto first = known->first + taken_[known->path];
  taken_[known->path] += *one.count;
  for (const auto& request : {std::string{}, one.request}) {
    if (!request.empty() && claim.spec.devices.requests.size() < 2) continue;
    auto& nodes = nodes_[device_name(claim, request)];
    for (const auto path : known->shared) {
      if (std::find(nodes.begin(), nodes.end(), path) == nodes.end()) nodes.emplace_back(path);
    }
    for (std::uint32_t i = 0; i < *one.count; ++i) {
      nodes.push_back(fmt::format("{}{}", known->path, first + i));
    }
  }
}

void PeerVm::choose(const InstanceTypes& types, const std::string& named) {
  const bool any = need_.gpus > 0 || !need_.devices.empty();
  if (!named.empty()) return check(types, named, "machineType");
  if (!instances_.empty()) return choose_claimed(types);
  if (!any && (need_.vcpus == 0 || need_.memory_mib == 0)) return;
  const auto found = types.smallest(need_, any);
  if (found.empty()) return answer_.warn("no instance type fits {}", need_.text());
  set_instance(found, need_.gpus > 0 ? "gpus" : any ? "devices" : "vcpus and memory");
}

void PeerVm::choose_claimed(const InstanceTypes& types) {
  for (const auto& type : types.sorted(true, true)) {
    if (instance_label(type.name) != instances_.front()) continue;
    set_instance(type.name, "claim");
    return check(types, type.name, "claim");
  }
  answer_.warn("no type has the name of the claimed device {}", cdi::quoted(instances_.front()));
}

void PeerVm::set_instance(const std::string& type, std::string_view rule) {
  answer_.instance = type;
  answer_.rule = rule;
  if (!is_beyond_webhook_) return;
  answer_.warn(
      "set the annotation {}: {}, because the webhook passes only nvidia.com/gpu of containers "
      "on",
      instance_annotation, type);
}

void PeerVm::check(const InstanceTypes& types, const std::string& named, std::string_view rule) {
  const auto found = std::find_if(types.list.begin(), types.list.end(),
                                  [&](const auto& type) { return type.name == named; });
  const auto name = cdi::quoted(named);
  if (found == types.list.end()) return answer_.warn("instance type {} is not in types", name);
  if (!found->fits(need_)) {
    return answer_.warn("instance type {} does not fit {}", name, need_.text());
  }
  answer_.instance = named;
  answer_.rule = rule;
}

}  // namespace pod
