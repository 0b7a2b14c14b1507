// `strategy`: how NVIDIA's gpu-operator configures nodes, and whether that reaches their GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "strategy.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../kit/versions/engine_defaults.hpp"
#include "../kit/versions/engine_support.hpp"
#include "../kit/versions/engine_versions.hpp"
#include "input.hpp"

namespace pod {

namespace {

/// The gpu-operator releases with relevant changes.
constexpr tools::EngineVersion cdi_added{23, 3, 0};

constexpr tools::EngineVersion cdi_by_default{25, 10, 0};

constexpr tools::EngineVersion nri_added{26, 3, 0};

constexpr tools::EngineVersion last_examined{26, 7, 0};  // the newest release that is known

struct CdiSettings {
  std::optional<bool> enabled{};
  bool nri = false;

  static constexpr void fields(auto& list) {
    list("enabled", &CdiSettings::enabled);
    list("nri", &CdiSettings::nri);
  }
};

/// The settings of a cluster policy, and the runtimes of nodes as kubelet reports them.
struct ClusterPolicy {
  std::string version{};
  bool openshift = false;
  bool toolkit = true;
  CdiSettings cdi{};
  std::vector<std::string> nodes{};
  tools::EngineVersion release{};
  bool has_cdi = false;    // by the settings, or by the default of the release
  bool is_native = false;  // the device plugin uses the runtime's own CDI support

  static constexpr void fields(auto& list) {
    list("operator", &ClusterPolicy::version, cdi::required);
    list("openshift", &ClusterPolicy::openshift);
    list("toolkit", &ClusterPolicy::toolkit);
    list("cdi", &ClusterPolicy::cdi);
    list("nodes", &ClusterPolicy::nodes, cdi::required);
  }
};

/// Reads the settings, with the defaults of the release, and warnings about ignored ones.
ClusterPolicy read_policy(const cdi::Document& input, Answer& answer) {
  auto policy = read_as<ClusterPolicy>(input);
  const Place place{&input, {}};
  const auto release = tools::parse_engine_version(policy.version);
  if (!release) place.at("operator").reject("must be a release of gpu-operator, such as 25.10");
  policy.release = *release;
  policy.has_cdi = policy.cdi.enabled.value_or(*release >= cdi_by_default);
  policy.is_native = policy.has_cdi && *release >= cdi_by_default;
  if (policy.cdi.enabled.value_or(false) && *release < cdi_added) {
    place.at("cdi").reject("gpu-operator supports CDI since 23.3");
  }
  if (policy.cdi.nri && !policy.has_cdi) place.at("cdi.nri").reject("needs cdi.enabled");
  if (policy.cdi.nri && !policy.toolkit) place.at("cdi.nri").reject("needs the toolkit");
  if (policy.cdi.nri && *release < nri_added) {
    policy.cdi.nri = false;
    answer.warn("cdi.nri: ignored: gpu-operator has the NRI plugin since 26.3");
  }
  if (std::pair{release->major, release->minor} >
      std::pair{last_examined.major, last_examined.minor}) {
    answer.warn(
        "operator: gpu-operator {} is newer than 26.7, the newest that is known: it may do "
        "otherwise",
        to_string(*release));
  }
  for (std::size_t i = 0; i < policy.nodes.size(); ++i) {
    if (policy.nodes[i].find("://") != std::string::npos) continue;
    place.at("nodes").item(i).reject("must be a runtime, such as containerd://2.1.4");
  }
  return policy;
}

/// The engine of a node: containerd, cri-o or docker; empty for any other.
std::string_view engine_of(std::string_view node) {
  for (const std::string_view name : {"docker", "containerd", "cri-o"}) {
    if (node.starts_with(name)) return name;
  }
  return {};
}

/// The runtime that the operator configures on all nodes: the first containerd wins, or otherwise
/// the last known runtime. Versions do not matter.
std::string_view configured_runtime(const ClusterPolicy& policy) {
  if (policy.openshift) return "cri-o";
  std::string_view runtime;
  for (const auto& node : policy.nodes) {
    const auto engine = engine_of(node);
    if (engine == "containerd") return engine;
    if (!engine.empty()) runtime = engine;
  }
  return runtime.empty() ? "containerd" : runtime;
}

NodePath unsupported(std::string why) {
  return {.path = "unsupported", .why = std::move(why)};
}

/// How an engine handles the devices that the device plugin requests.
NodePath native_path(const ClusterPolicy& policy, const tools::VersionedEngine& engine,
                     std::string_view runtime) {
  const auto* const support = tools::find_engine_support(engine);
  const auto name = std::string{engine.name} + " " + to_string(engine.version);
  if (support == nullptr) return unsupported(name + " does not inject CDI devices");
  if (policy.cdi.nri && !support->nri) {
    return unsupported(name + " ignores CDI devices of NRI plugins");
  }
  auto why = name + " injects CDI devices by default";
  if (support->cdi_switch == tools::CdiSwitch::off) {
    // The toolkit writes the runtime's configuration, unless the NRI plugin is used.
    if (policy.cdi.nri || !policy.toolkit) {
      return unsupported(name + " injects CDI devices only with enable_cdi, which is not set");
    }
    why = name + " injects CDI devices with enable_cdi, which the toolkit sets";
  }
  if (engine.name == runtime || policy.cdi.nri) return {.path = "native", .why = why};
  return unsupported(
      why.append(", but the operator configures ")
          .append(runtime)
          .append(" on all nodes, so that its pods find no runtime class nvidia here"));
}

/// How a node injects GPUs: natively, or otherwise with NVIDIA's runtime or hook.
NodePath path_of(const ClusterPolicy& policy, std::string_view node, std::string_view runtime) {
  const auto engine = engine_of(node);
  if (engine.empty()) return unsupported("the operator does not know the runtime");
  if (policy.is_native && engine != "docker") {
    const auto version = tools::parse_engine_version(node.substr(node.find("://") + 3));
    if (!version) return unsupported("the version of the runtime cannot be read");
    return native_path(policy, {engine, *version}, runtime);
  }
  if (engine != runtime) {
    return unsupported("the operator configures " + std::string{runtime} + " on all nodes");
  }
  if (policy.is_native) {
    return unsupported(
        "Docker ignores CDI annotations, and cri-dockerd passes CDI devices only "
        "since November 2025");
  }
  if (!policy.toolkit) return unsupported("without the toolkit there is no NVIDIA runtime");
  if (runtime == "cri-o" && !policy.has_cdi) {
    return {.path = "hook", .why = "an OCI hook of CRI-O injects GPUs"};
  }
  return {.path = "runtime", .why = "NVIDIA's runtime, the default of the engine, injects GPUs"};
}

}  // namespace

Answer answer_strategy(const cdi::Document& input) {
  Answer answer{.path = "unsupported", .why = "there are no nodes"};
  const auto policy = read_policy(input, answer);
  const auto runtime = configured_runtime(policy);
  answer.runtime = runtime;
  // The operator's own pods use the runtime class, unless a hook or the NRI plugin serves them.
  const bool has_runtime = policy.has_cdi || runtime != "cri-o";
  if (has_runtime && !policy.cdi.nri) answer.runtime_class = "nvidia";
  answer.is_default = has_runtime && policy.toolkit && !policy.is_native;
  if (!policy.is_native) answer.strategies.emplace_back("envvar");
  if (policy.has_cdi) answer.strategies.emplace_back("cdi-annotations");
  if (policy.is_native) answer.strategies.emplace_back("cdi-cri");
  for (const auto& node : policy.nodes) {
    auto path = path_of(policy, node, runtime);
    if (answer.nodes.empty() || (answer.path != "unsupported" && path.path == "unsupported")) {
      answer.path = path.path;
      answer.why = path.why;
    }
    path.node = node;
    answer.nodes.push_back(std::move(path));
  }
  return answer;
}

}  // namespace pod
