// `requests` and `podresources`: the devices that containerd, CRI-O and Kata inject.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_REQUESTS_HPP
#define CDI_TOOLS_POD_REQUESTS_HPP

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/requests.hpp>

#include "input.hpp"

// Kubernetes 1.37: k8s.io/kubelet/pkg/apis/podresources/v1. kata-containers 7c6ba40 reads only the
// devices of plugins; kata-containers#13322 asks for those of DRA.
//
// Other prefixes: NVIDIA's runtime reads the prefixes in its option annotation-prefixes, and NRI
// plugins read cdi-devices.nri.io/container.NAME or nvidia.cdi.k8s.io/container.NAME.

namespace pod {

/// The options of `requests`.
struct RequestsOptions {
  std::string runtime = "containerd";
  std::vector<std::string> prefixes{};  // of annotations, in addition to cdi.k8s.io/
  std::string cdi = "on";               // enable_cdi of containerd
  bool origins = false;
};

/// Names of devices, and if they are wanted, where each comes from.
struct DeviceNames {
  int version = 1;
  std::vector<std::string> devices{};
  std::vector<std::string> origins{};

  static constexpr void fields(auto& list) {
    list("version", &DeviceNames::version);
    list("devices", &DeviceNames::devices, cdi::required);
    list("origins", &DeviceNames::origins);
  }
};

/// What a container runtime is given.
struct GivenRequests {
  std::vector<std::string> cri{};
  std::map<std::string, std::string> annotations{};

  static constexpr void fields(auto& list) {
    list("cri", &GivenRequests::cri);
    list("annotations", &GivenRequests::annotations);
  }
};

/// Whether an ignored annotation looks like a request for devices: with another prefix of CDI or
/// NRI plugins, or with a misspelt prefix before device names.
inline bool looks_like_request(const std::string& key, const std::string& value) {
  constexpr std::string_view usual = "cdi.k8s.io";
  constexpr std::size_t max_wrong_letters = 2;
  const auto prefix = std::string_view{key}.substr(0, key.find('/'));
  if (prefix.ends_with(".cdi.k8s.io") || prefix.starts_with("cdi-devices.")) return true;
  if (cdi::detail::edit_distance(prefix, usual, max_wrong_letters) > max_wrong_letters)
    return false;
  const auto devices = cdi::parse_annotations(std::map<std::string, std::string>{{key, value}}, "");
  return devices && !devices->devices.empty();
}

/// Leaves the annotations that a runtime reads, with warnings about others that look like requests.
inline void keep_read(std::map<std::string, std::string>& annotations,
                      const RequestsOptions& options, Warnings& warnings) {
  std::erase_if(annotations, [&](const auto& one) {
    bool is_read = one.first.starts_with(cdi::annotation_prefix);
    for (const auto& prefix : options.prefixes) is_read = is_read || one.first.starts_with(prefix);
    if (!is_read && looks_like_request(one.first, one.second)) {
      warnings.push_back(fmt::format(
          "annotation {} looks like a request, but {} reads only keys that begin with cdi.k8s.io/; "
          "if another runtime or an NRI plugin reads this annotation, pass its prefix with "
          "--prefix",
          cdi::quoted(one.first), options.runtime));
    }
    return !is_read;
  });
}

/// `enable_cdi = false`: containerd 2.2 rejects the field, and ignores annotations.
inline DeviceNames without_cdi(const GivenRequests& given, const RequestsOptions& options,
                               Warnings& warnings) {
  if (options.runtime == "crio") throw Rejection{"--cdi off: CRI-O has no switch for CDI"};
  if (!given.cri.empty()) {
    throw Rejection{"CDI is off, but cri[0] requests " + cdi::quoted(given.cri.front()) +
                    ": containerd 2.2 rejects the container, older versions ignore the field; set "
                    "enable_cdi = true"};
  }
  warnings.emplace_back("CDI is off: containerd ignores annotations silently");
  return {};
}

/// The device names that a runtime injects, in order. containerd and CRI-O visit annotations in
/// random order; here they are sorted by key.
inline DeviceNames answer_requests(const cdi::Document& input, const RequestsOptions& options,
                                   Warnings& warnings) {
  auto given = read_as<GivenRequests>(input);
  if (options.cdi == "off") return without_cdi(given, options, warnings);
  cdi::Requests requests{options.runtime == "crio" ? cdi::RequestRules::cri_o
                                                   : cdi::RequestRules::containerd};
  requests.add_field(given.cri);
  keep_read(given.annotations, options, warnings);
  value_or_throw(requests.add_annotations(given.annotations, ""));
  DeviceNames answer;
  for (const auto& device : requests.devices()) {
    answer.devices.push_back(device.name);
    const bool is_field = device.origin == cdi::RequestOrigin::field;
    if (options.origins) answer.origins.push_back(is_field ? "cri" : "annotation " + device.key);
  }
  for (std::size_t i = 0; i < given.cri.size(); ++i) {
    if (cdi::parse_name(given.cri[i])) continue;
    warnings.push_back(fmt::format("cri[{}]: the injection will fail: {}", i,
                                   to_string(cdi::qualified_name_error(given.cri[i]))));
  }
  return answer;
}

/// The options of `podresources`.
struct PodResourcesOptions {
  std::string pod{};        // NAMESPACE/NAME; empty: all in the input
  std::string container{};  // empty: all of a pod
  bool plugins_only = false;
  bool origins = false;
};

// Parts of the answer, a protobuf message in JSON, in which names may have either style.

/// The devices of a plugin, a claim, or one of its drivers.
struct KubeletDevices {
  static constexpr bool skips_unknown = true;
  std::string name{};  // of a CDI device
  std::string resource{};
  std::vector<std::string> ids{};
  std::string claim = "without a name";
  std::vector<KubeletDevices> parts{};  // the drivers of a claim, or the CDI devices of one

  static constexpr void fields(auto& list) {
    list("name", &KubeletDevices::name);
    list("resourceName", &KubeletDevices::resource);
    list("resource_name", &KubeletDevices::resource);
    list("deviceIds", &KubeletDevices::ids);
    list("device_ids", &KubeletDevices::ids);
    list("claimName", &KubeletDevices::claim);
    list("claim_name", &KubeletDevices::claim);
    list("claimResources", &KubeletDevices::parts);
    list("claim_resources", &KubeletDevices::parts);
    list("cdiDevices", &KubeletDevices::parts);
    list("cdi_devices", &KubeletDevices::parts);
  }
};

struct KubeletContainer {
  static constexpr bool skips_unknown = true;
  std::string name{};
  std::vector<KubeletDevices> devices{};
  std::vector<KubeletDevices> claims{};

  static constexpr void fields(auto& list) {
    list("name", &KubeletContainer::name);
    list("devices", &KubeletContainer::devices);
    list("dynamicResources", &KubeletContainer::claims);
    list("dynamic_resources", &KubeletContainer::claims);
  }
};

struct KubeletPod {
  static constexpr bool skips_unknown = true;
  std::string name{};
  std::string space{};
  std::vector<KubeletContainer> containers{};

  static constexpr void fields(auto& list) {
    list("name", &KubeletPod::name);
    list("namespace", &KubeletPod::space);
    list("containers", &KubeletPod::containers);
  }
};

/// An answer to List, which has a list of pods, or to Get, which has one.
template <class Pods>
struct KubeletAnswer {
  Pods pods{};

  static constexpr void fields(auto& list) {
    list("podResources", &KubeletAnswer::pods);
    list("pod_resources", &KubeletAnswer::pods);
  }
};

inline std::vector<KubeletPod> read_kubelet_pods(const cdi::Document& input) {
  for (const auto& [key, value] : input.root().members()) {
    if (value.kind() == cdi::Document::Kind::map)
      return {read_as<KubeletAnswer<KubeletPod>>(input).pods};
  }
  return read_as<KubeletAnswer<std::vector<KubeletPod>>>(input).pods;
}

namespace detail {

/// Gathers the names of devices, each once.
struct GatheredNames {
  const PodResourcesOptions& options;
  Warnings& warnings;
  DeviceNames answer{};
  std::set<std::string> seen{};
  std::size_t left_out = 0;  // devices of ResourceClaims

  void add(const std::string& name, const std::string& origin) {
    if (!seen.insert(name).second) return;
    if (!cdi::parse_name(name)) {
      warnings.push_back(
          fmt::format("{}: {} is not the name of a CDI device, so it does not resolve", origin,
                      cdi::quoted(name)));
    }
    answer.devices.push_back(name);
    if (options.origins) answer.origins.push_back(origin);
  }

  void add_all_of(const KubeletContainer& container, const std::string& place) {
    for (const auto& device : container.devices) {
      if (device.resource.empty()) continue;
      for (const auto& id : device.ids)
        add(device.resource + "=" + id, place + ", " + device.resource);
    }
    for (const auto& claim : container.claims) {
      for (const auto& driver : claim.parts) {
        left_out += driver.parts.size();
        if (options.plugins_only) continue;
        for (const auto& device : driver.parts) add(device.name, place + ", claim " + claim.claim);
      }
    }
  }
};

}  // namespace detail

/// The CDI devices of a pod, as Kata would plug them: `RESOURCE=ID` for the device IDs of a device
/// plugin, and the names of DRA drivers, each once and in this order.
inline DeviceNames answer_podresources(const cdi::Document& input,
                                       const PodResourcesOptions& options, Warnings& warnings) {
  detail::GatheredNames names{options, warnings};
  bool found = options.pod.empty() && options.container.empty();
  for (const auto& pod : read_kubelet_pods(input)) {
    const auto pod_name = pod.space + "/" + pod.name;
    if (!options.pod.empty() && pod_name != options.pod) continue;
    found = found || options.container.empty();
    for (const auto& container : pod.containers) {
      if (!options.container.empty() && container.name != options.container) continue;
      found = true;
      names.add_all_of(container,
                       fmt::format("{}, container {}", pod_name, cdi::quoted(container.name)));
    }
  }
  if (!found) {
    throw Rejection{"the input has no such pod or container: kubelet lists only pods of its node"};
  }
  if (options.plugins_only && names.left_out != 0) {
    warnings.push_back(fmt::format(
        "Kata 7c6ba40 ignores the devices of ResourceClaims: {} are left out", names.left_out));
  }
  return std::move(names.answer);
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_REQUESTS_HPP
