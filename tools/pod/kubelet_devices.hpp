// `podresources`: the CDI devices in an answer of kubelet's PodResources service.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_KUBELET_DEVICES_HPP
#define CDI_TOOLS_POD_KUBELET_DEVICES_HPP

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"

// Kubernetes 1.37: k8s.io/kubelet/pkg/apis/podresources/v1. kata-containers 7c6ba40 reads only the
// devices of plugins; kata-containers#13322 asks for those of DRA.

namespace pod {

/// The options of `podresources`.
struct PodResourcesOptions {
  std::string pod{};        // NAMESPACE/NAME; empty: all in the input
  std::string container{};  // empty: all of a pod
  bool plugins_only = false;
  bool origins = false;
};

namespace detail {

/// A member of a protobuf message in JSON, whose names may be in either style.
inline std::optional<Member> find_either(const Member& object, std::string_view camel,
                                         std::string_view snake) {
  auto found = object.find(camel);
  return found ? found : object.find(snake);
}

/// The items of a list that may be absent.
inline std::vector<Member> items_of(const std::optional<Member>& list) {
  return list ? list->items() : std::vector<Member>{};
}

/// Gathers device names, each once.
class DeviceNames {
 public:
  DeviceNames(const PodResourcesOptions& options, Answer& answer)
      : options_{&options}, answer_{&answer} {
    answer.value["devices"] = Json::array();
    if (options.origins) answer.value["origins"] = Json::array();
  }

  void add_container(const Member& container, const std::string& pod) {
    const auto place = pod + ", container " + cdi::quoted(text_at(container, "name"));
    for (const auto& device : items_of(container.find("devices"))) {
      const auto resource = find_either(device, "resourceName", "resource_name");
      const auto ids = find_either(device, "deviceIds", "device_ids");
      if (!resource || !ids) continue;
      for (const auto& id : ids->texts()) {
        add(resource->text() + "=" + id, place + ", " + resource->text());
      }
    }
    for (const auto& claim :
         items_of(find_either(container, "dynamicResources", "dynamic_resources"))) {
      const auto name = find_either(claim, "claimName", "claim_name");
      for (const auto& resource :
           items_of(find_either(claim, "claimResources", "claim_resources"))) {
        for (const auto& device : items_of(find_either(resource, "cdiDevices", "cdi_devices"))) {
          add_of_claim(device.at("name").text(), place,
                       name ? name->text() : std::string{"without a name"});
        }
      }
    }
  }

  /// The number of names of claims that were left out.
  std::size_t left_out() const { return left_out_; }

 private:
  void add_of_claim(const std::string& name, const std::string& place, const std::string& claim) {
    if (options_->plugins_only) {
      ++left_out_;
    } else {
      add(name, place + ", claim " + claim);
    }
  }

  void add(const std::string& name, const std::string& origin) {
    auto& list = answer_->value["devices"];
    if (!seen_.insert(name).second) return;
    if (!cdi::parse_name(name)) {
      answer_->warnings.push_back(origin + ": " + cdi::quoted(name) +
                                  " is not the name of a CDI device, so it does not resolve");
    }
    list.push_back(name);
    if (options_->origins) answer_->value["origins"].push_back(origin);
  }

  const PodResourcesOptions* options_;
  Answer* answer_;
  std::set<std::string> seen_{};
  std::size_t left_out_ = 0;
};

/// The pods of an answer to List, which has a list, or to Get, which has one pod. JSON of protobuf
/// leaves out an empty list.
inline std::vector<Member> pods_of(const Member& input) {
  const auto pods = find_either(input, "podResources", "pod_resources");
  if (!pods) {
    input.allow({"podResources", "pod_resources"});
    return {};
  }
  return pods->is_list() ? pods->items() : std::vector<Member>{*pods};
}

}  // namespace detail

/// The CDI devices of a pod, as Kata would plug them: `RESOURCE=ID` for the device IDs of a device
/// plugin, and the names of DRA drivers, each once and in this order.
inline Answer answer_podresources(const Member& input, const PodResourcesOptions& options) {
  Answer answer;
  detail::DeviceNames names{options, answer};
  bool found = options.pod.empty() && options.container.empty();
  for (const auto& pod : detail::pods_of(input)) {
    const auto name = text_at(pod, "namespace") + "/" + text_at(pod, "name");
    if (!options.pod.empty() && name != options.pod) continue;
    found = found || options.container.empty();
    for (const auto& container : detail::items_of(pod.find("containers"))) {
      const bool other =
          !options.container.empty() && text_at(container, "name") != options.container;
      if (other) continue;
      found = true;
      names.add_container(container, name);
    }
  }
  if (!found) {
    throw Rejection{"the input has no such pod or container: kubelet lists only pods of its node"};
  }
  if (names.left_out() != 0) {
    answer.warnings.push_back("Kata 7c6ba40 ignores the devices of ResourceClaims: " +
                              std::to_string(names.left_out()) + " are left out");
  }
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_KUBELET_DEVICES_HPP
