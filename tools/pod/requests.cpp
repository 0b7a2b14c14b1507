// `requests` and `podresources`: the devices that containerd, CRI-O and Kata inject.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "requests.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <cdi/annotations.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/requests.hpp>

#include "input.hpp"

namespace pod {

namespace {

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
bool looks_like_request(const std::string& key, const std::string& value) {
  constexpr std::size_t max_wrong_letters = 2;
  const auto prefix = std::string_view{key}.substr(0, key.find('/'));
  if (prefix.ends_with(".cdi.k8s.io") || prefix.starts_with("cdi-devices.")) return true;
  const auto wrong = cdi::detail::edit_distance(prefix, "cdi.k8s.io", max_wrong_letters);
  if (wrong > max_wrong_letters) return false;
  const auto devices = cdi::parse_annotations(std::map<std::string, std::string>{{key, value}}, "");
  return devices && !devices->devices.empty();
}

/// The answer of containerd without CDI.
Answer answer_without_cdi(const cdi::Document& input, const GivenRequests& given) {
  if (!given.cri.empty()) {
    Place{&input, "cri[0]"}.reject(
        "CDI is off: containerd 2.2 rejects the container, older versions ignore the field; set "
        "enable_cdi = true");
  }
  Answer answer;
  answer.devices.emplace();
  answer.warn("CDI is off: containerd ignores annotations silently");
  return answer;
}

/// A part of the answer, a protobuf message in JSON, in which names may have either style: a pod, a
/// container, the devices of a plugin, a claim, a driver of a claim, or a CDI device.
struct KubeletPart {
  static constexpr bool skips_unknown = true;
  std::string name{};
  std::string space{};
  std::vector<KubeletPart> parts{};
  std::vector<KubeletPart> claims{};
  std::string resource{};
  std::vector<std::string> ids{};
  std::string claim = "without a name";

  static constexpr void fields(auto& list) {
    list("name", &KubeletPart::name);
    list("namespace", &KubeletPart::space);
    list("containers", &KubeletPart::parts);
    list("devices", &KubeletPart::parts);
    list("dynamicResources", &KubeletPart::claims);
    list("dynamic_resources", &KubeletPart::claims);
    list("resourceName", &KubeletPart::resource);
    list("resource_name", &KubeletPart::resource);
    list("deviceIds", &KubeletPart::ids);
    list("device_ids", &KubeletPart::ids);
    list("claimName", &KubeletPart::claim);
    list("claim_name", &KubeletPart::claim);
    list("claimResources", &KubeletPart::parts);
    list("claim_resources", &KubeletPart::parts);
    list("cdiDevices", &KubeletPart::parts);
    list("cdi_devices", &KubeletPart::parts);
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

std::vector<KubeletPart> read_kubelet_pods(const cdi::Document& input) {
  for (const auto& [key, value] : input.root().members()) {
    if (value.kind() != cdi::Document::Kind::map) continue;
    return {read_as<KubeletAnswer<KubeletPart>>(input).pods};
  }
  return read_as<KubeletAnswer<std::vector<KubeletPart>>>(input).pods;
}

/// Calls `add` with the name and the origin of each device of a container. Returns how many devices
/// of ResourceClaims it has; with `plugins_only`, they are not added.
template <class Add>
std::size_t add_devices_of(const KubeletPart& container, const std::string& place,
                           bool plugins_only, const Add& add) {
  for (const auto& one : container.parts) {
    if (one.resource.empty()) continue;
    for (const auto& id : one.ids) add(one.resource + "=" + id, place + one.resource);
  }
  std::size_t of_claims = 0;
  for (const auto& claim : container.claims) {
    for (const auto& driver : claim.parts) {
      of_claims += driver.parts.size();
      if (plugins_only) continue;
      for (const auto& one : driver.parts) add(one.name, place + "claim " + claim.claim);
    }
  }
  return of_claims;
}

}  // namespace

Answer answer_requests(const cdi::Document& input, const RequestsOptions& options) {
  auto given = read_as<GivenRequests>(input);
  const bool crio = options.runtime == "crio";
  if (options.cdi == "off") {
    if (crio) throw Rejection{"--cdi off: CRI-O has no switch for CDI"};
    return answer_without_cdi(input, given);
  }
  Answer answer;
  answer.devices.emplace();
  std::erase_if(given.annotations, [&](const auto& one) {
    bool is_read = one.first.starts_with(cdi::annotation_prefix);
    for (const auto& prefix : options.prefixes) is_read = is_read || one.first.starts_with(prefix);
    if (!is_read && looks_like_request(one.first, one.second)) {
      answer.warn(
          "annotation {} looks like a request, but {} reads only keys that begin with cdi.k8s.io/; "
          "if another runtime or an NRI plugin reads this annotation, pass its prefix with "
          "--prefix",
          cdi::quoted(one.first), options.runtime);
    }
    return !is_read;
  });
  cdi::Requests requests{crio ? cdi::RequestRules::cri_o : cdi::RequestRules::containerd};
  requests.add_field(given.cri);
  value_or_throw(requests.add_annotations(given.annotations, ""));
  for (const auto& device : requests.devices()) {
    answer.devices->push_back(device.name);
    const bool is_field = device.origin == cdi::RequestOrigin::field;
    if (options.origins) answer.origins.push_back(is_field ? "cri" : "annotation " + device.key);
  }
  for (std::size_t i = 0; i < given.cri.size(); ++i) {
    if (cdi::parse_name(given.cri[i])) continue;
    answer.warn("cri[{}]: the injection will fail: {}", i,
                to_string(cdi::qualified_name_error(given.cri[i])));
  }
  return answer;
}

Answer answer_podresources(const cdi::Document& input, const PodResourcesOptions& options) {
  Answer answer;
  answer.devices.emplace();
  std::set<std::string> seen;
  std::size_t left_out = 0;
  const auto add = [&](const std::string& name, const std::string& origin) {
    if (!seen.insert(name).second) return;
    answer.devices->push_back(name);
    if (options.origins) answer.origins.push_back(origin);
    if (cdi::parse_name(name)) return;
    answer.warn("{}: {} is not the name of a CDI device, so it does not resolve", origin,
                cdi::quoted(name));
  };
  bool found = options.pod.empty() && options.container.empty();
  for (const auto& pod : read_kubelet_pods(input)) {
    const auto pod_name = pod.space + "/" + pod.name;
    if (!options.pod.empty() && pod_name != options.pod) continue;
    found = found || options.container.empty();
    for (const auto& container : pod.parts) {
      if (!options.container.empty() && container.name != options.container) continue;
      found = true;
      const auto place = fmt::format("{}, container {}, ", pod_name, cdi::quoted(container.name));
      left_out += add_devices_of(container, place, options.plugins_only, add);
    }
  }
  if (!found) {
    throw Rejection{"the input has no such pod or container: kubelet lists only pods of its node"};
  }
  if (options.plugins_only && left_out != 0) {
    answer.warn("Kata 7c6ba40 ignores the devices of ResourceClaims: {} are left out", left_out);
  }
  return answer;
}

}  // namespace pod
