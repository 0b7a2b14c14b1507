// `strategy`: how NVIDIA's gpu-operator configures nodes, and whether that reaches their GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_STRATEGY_HPP
#define CDI_TOOLS_POD_STRATEGY_HPP

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../kit/versions/engine_defaults.hpp"
#include "../kit/versions/engine_support.hpp"
#include "../kit/versions/engine_versions.hpp"
#include "answer.hpp"
#include "input.hpp"

// NVIDIA/gpu-operator a22dbf6 (v26.7.0): controllers/state_manager.go, object_controls.go;
// api/nvidia/v1/clusterpolicy_types.go. The defaults of 23.3 to 25.3 are from their values.yaml.

namespace pod {

namespace detail {

/// The gpu-operator releases with relevant changes.
inline constexpr tools::EngineVersion cdi_added{23, 3, 0};
inline constexpr tools::EngineVersion cdi_by_default{25, 10, 0};
inline constexpr tools::EngineVersion nri_added{26, 3, 0};
inline constexpr tools::EngineVersion last_examined{26, 7, 0};  // the newest release that is known

struct GpuNode {
  std::string runtime{};  // as kubelet reports it: containerd://2.1.4
  std::string engine{};   // containerd, cri-o or docker; empty for any other
  std::optional<tools::EngineVersion> version{};
};

struct ClusterPolicy {
  tools::EngineVersion release{};
  bool openshift = false;
  bool cdi = false;
  bool nri = false;
  bool toolkit = true;
};

/// How a node handles a request for a GPU.
struct NodePath {
  std::string_view path;
  std::string why;
};

inline GpuNode read_node(const Member& member) {
  GpuNode node{.runtime = member.text()};
  const auto end = node.runtime.find("://");
  if (end == std::string::npos) member.reject("must be a runtime, such as containerd://2.1.4");
  for (const auto* name : {"docker", "containerd", "cri-o"}) {
    if (node.runtime.starts_with(name)) node.engine = name;
  }
  node.version = tools::parse_engine_version(std::string_view{node.runtime}.substr(end + 3));
  return node;
}

/// The settings of a cluster policy, with the defaults of the release.
inline ClusterPolicy read_policy(const Member& input) {
  input.allow({"operator", "openshift", "toolkit", "cdi", "nodes"});
  const auto operator_member = input.at("operator");
  const auto release = tools::parse_engine_version(operator_member.text());
  if (!release) operator_member.reject("must be a release of gpu-operator, such as 25.10");
  ClusterPolicy policy{.release = *release,
                       .openshift = boolean_at(input, "openshift", false),
                       .cdi = *release >= cdi_by_default,
                       .toolkit = boolean_at(input, "toolkit", true)};
  if (const auto cdi = input.find("cdi")) {
    cdi->allow({"enabled", "nri"});
    policy.cdi = boolean_at(*cdi, "enabled", policy.cdi);
    policy.nri = boolean_at(*cdi, "nri", false);
    if (policy.cdi && *release < cdi_added) cdi->reject("gpu-operator supports CDI since 23.3");
    if (policy.nri && !policy.cdi) cdi->at("nri").reject("needs cdi.enabled");
    if (policy.nri && !policy.toolkit) cdi->at("nri").reject("needs the toolkit");
  }
  return policy;
}

/// The runtime that the operator configures on all nodes: the first containerd wins, or otherwise
/// the last known runtime. Versions do not matter.
inline std::string configured_runtime(const ClusterPolicy& policy,
                                      const std::vector<GpuNode>& nodes) {
  if (policy.openshift) return "cri-o";
  std::string runtime;
  for (const auto& node : nodes) {
    if (node.engine == "containerd") return node.engine;
    if (!node.engine.empty()) runtime = node.engine;
  }
  return runtime.empty() ? "containerd" : runtime;
}

/// Whether the device plugin uses the runtime's own CDI support.
inline bool is_native(const ClusterPolicy& policy) {
  return policy.cdi && policy.release >= cdi_by_default;
}

/// How an engine handles the devices that the device plugin requests.
inline NodePath native_path(const ClusterPolicy& policy, const GpuNode& node) {
  const auto* const support = tools::find_engine_support({node.engine, *node.version});
  const auto name = node.engine + " " + to_string(*node.version);
  if (support == nullptr) return {"unsupported", name + " does not inject CDI devices"};
  if (policy.nri && !support->nri) {
    return {"unsupported", name + " ignores CDI devices of NRI plugins"};
  }
  if (support->cdi_switch != tools::CdiSwitch::off) {
    return {"native", name + " injects CDI devices by default"};
  }
  // The toolkit writes the runtime's configuration, unless the NRI plugin is used.
  if (policy.nri || !policy.toolkit) {
    return {"unsupported", name + " injects CDI devices only with enable_cdi, which is not set"};
  }
  return {"native", name + " injects CDI devices with enable_cdi, which the toolkit sets"};
}

/// How a node injects GPUs: natively, or otherwise with NVIDIA's runtime or hook.
inline NodePath path_of(const ClusterPolicy& policy, const GpuNode& node,
                        const std::string& runtime) {
  if (node.engine.empty()) return {"unsupported", "the operator does not know the runtime"};
  if (!is_native(policy) || node.engine == "docker") {
    if (node.engine != runtime) {
      return {"unsupported", "the operator configures " + runtime + " on all nodes"};
    }
    if (is_native(policy)) {
      return {"unsupported",
              "Docker ignores CDI annotations, and cri-dockerd passes CDI devices "
              "only since November 2025"};
    }
    if (!policy.toolkit) return {"unsupported", "without the toolkit there is no NVIDIA runtime"};
    if (runtime == "cri-o" && !policy.cdi) return {"hook", "an OCI hook of CRI-O injects GPUs"};
    return {"runtime", "NVIDIA's runtime, the default of the engine, injects GPUs"};
  }
  if (!node.version) return {"unsupported", "the version of the runtime cannot be read"};
  auto path = native_path(policy, node);
  if (path.path == "native" && node.engine != runtime && !policy.nri) {
    return {"unsupported", path.why + ", but the operator configures " + runtime +
                               " on all nodes, so that its pods find no runtime class nvidia here"};
  }
  return path;
}

inline Json strategies(const ClusterPolicy& policy) {
  if (!policy.cdi) return Json::array({"envvar"});
  if (!is_native(policy)) return Json::array({"envvar", "cdi-annotations"});
  return Json::array({"cdi-annotations", "cdi-cri"});
}

/// The path of the worst node, which is the path of the cluster, and the reason.
inline void add_paths(const ClusterPolicy& policy, const std::vector<GpuNode>& nodes,
                      const std::string& runtime, Json& value) {
  NodePath worst{{}, "there are no nodes"};
  auto all = Json::array();
  for (const auto& node : nodes) {
    const auto path = path_of(policy, node, runtime);
    all.push_back({{"node", node.runtime}, {"path", path.path}, {"why", path.why}});
    if (worst.path.empty() || (worst.path != "unsupported" && path.path == "unsupported")) {
      worst = path;
    }
  }
  value["path"] = worst.path.empty() ? "unsupported" : worst.path;
  value["why"] = worst.why;
  value["nodes"] = std::move(all);
}

}  // namespace detail

/// The gpu-operator configuration for nodes with these runtimes. The path to a GPU is `native`,
/// `runtime`, `hook` or `unsupported`.
inline Answer answer_strategy(const Member& input) {
  auto policy = detail::read_policy(input);
  const bool nri_unknown = policy.nri && policy.release < detail::nri_added;
  if (nri_unknown) policy.nri = false;
  const auto list = input.at("nodes");
  std::vector<detail::GpuNode> nodes;
  for (const auto& member : list.items()) nodes.push_back(detail::read_node(member));
  const auto runtime = detail::configured_runtime(policy, nodes);
  // The operator's own pods use the runtime class, unless a hook or the NRI plugin serves them.
  const bool has_class = !policy.nri && (policy.cdi || runtime != "cri-o");
  const bool is_default =
      policy.toolkit && !detail::is_native(policy) && (policy.cdi || runtime != "cri-o");
  Answer answer{.value = {{"runtime", runtime},
                          {"deviceListStrategy", detail::strategies(policy)},
                          {"runtimeClass", has_class ? Json("nvidia") : Json{}},
                          {"setAsDefault", is_default}}};
  detail::add_paths(policy, nodes, runtime, answer.value);
  if (nri_unknown) {
    answer.warnings.emplace_back("cdi.nri: ignored: gpu-operator has the NRI plugin since 26.3");
  }
  const auto& release = policy.release;
  if (std::pair{release.major, release.minor} >
      std::pair{detail::last_examined.major, detail::last_examined.minor}) {
    answer.warnings.push_back("operator: gpu-operator " + to_string(release) +
                              " is newer than 26.7, the newest that is known: it may do otherwise");
  }
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_STRATEGY_HPP
