// The abilities of a container runtime with NRI and CDI, by name and version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <nri.pb.h>
#include <string_view>

#include "../kit/versions/engine_versions.hpp"

namespace nri {

using Version = tools::EngineVersion;

/// The version in a text such as `v2.1.0-rc.1`; 0.0.0, for which nothing is assumed, if it is not a
/// version.
inline Version read_version(std::string_view text) {
  return tools::parse_engine_version(text).value_or(Version{});
}

/// The abilities that matter for an injection.
struct RuntimeFacts {
  bool injects_names = false;        ///< it resolves the CDI names in an adjustment, by default
  bool injects_annotations = false;  ///< it injects the devices of a container's own annotations
  bool has_device_rules = false;     ///< NRI 0.10: an adjustment may have device cgroup rules
  bool has_net_devices = false;      ///< NRI 0.11: and network devices and Intel RDT settings
};

/// The facts about a runtime; no abilities if the runtime is unknown.
inline RuntimeFacts facts_of(const ConfigureRequest& runtime) {
  const auto version = read_version(runtime.runtime_version());
  const bool containerd = runtime.runtime_name() == "containerd";
  const bool crio = runtime.runtime_name() == "cri-o" || runtime.runtime_name() == "crio";
  RuntimeFacts facts;
  if (containerd) {
    // 1.7 has both only with enable_cdi = true, which is not the default; otherwise its injector
    // refuses each container with a name since 1.7.30.
    facts.injects_names = version >= Version{2, 1, 0};
    facts.injects_annotations = version >= Version{2, 0, 0};
    facts.has_device_rules = version >= Version{2, 2, 0};
    facts.has_net_devices = version >= Version{2, 2, 1};
  } else if (crio) {
    facts.injects_names = version >= Version{1, 34, 0};
    facts.injects_annotations = true;
    facts.has_device_rules = version >= Version{1, 34, 0};
    facts.has_net_devices = version >= Version{1, 35, 0};
  }
  // Runtimes report the version since NRI 0.12.
  const auto nri = read_version(runtime.nri_version());
  facts.has_device_rules = facts.has_device_rules || nri >= Version{0, 10, 0};
  facts.has_net_devices = facts.has_net_devices || nri >= Version{0, 11, 0};
  return facts;
}

}  // namespace nri
