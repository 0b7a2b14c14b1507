// What a container runtime can do with NRI and CDI, by its name and version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_RUNTIME_FACTS_HPP
#define CDI_TOOLS_NRI_RUNTIME_FACTS_HPP

#include <array>
#include <charconv>
#include <nri.pb.h>
#include <string>
#include <string_view>

namespace nri {

/// A version such as `v2.1.0-rc.1`, as three numbers; parts that are missing are 0.
struct Version {
  int major = 0, minor = 0, patch = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

/// Reads the numbers at the front of a version.
inline Version read_version(std::string_view text) {
  std::array<int, 3> parts{};
  if (text.starts_with('v')) text.remove_prefix(1);
  for (auto& part : parts) {
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, part);
    if (read.ec != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return {parts[0], parts[1], parts[2]};
}

/// The abilities that matter for an injection.
struct RuntimeFacts {
  bool injects_names = false;        ///< it resolves the CDI names in an adjustment
  bool injects_annotations = false;  ///< it injects the devices of a container's own annotations
  bool has_device_rules = false;     ///< NRI 0.10: an adjustment may have device cgroup rules
  bool has_net_devices = false;      ///< NRI 0.11: and network devices and Intel RDT settings
};

/// The facts of a runtime; of one that is not known, none.
inline RuntimeFacts facts_of(const ConfigureRequest& runtime) {
  const auto version = read_version(runtime.runtime_version());
  const bool containerd = runtime.runtime_name() == "containerd";
  const bool crio = runtime.runtime_name() == "cri-o" || runtime.runtime_name() == "crio";
  RuntimeFacts facts;
  if (containerd) {
    const bool old = version < Version{2, 0, 0};
    facts.injects_names = old ? version >= Version{1, 7, 30} : version >= Version{2, 1, 0};
    facts.injects_annotations = !old;  // 1.7 does only with enable_cdi = true, which is not default
    facts.has_device_rules = version >= Version{2, 2, 0};
    facts.has_net_devices = version >= Version{2, 2, 1};
  } else if (crio) {
    facts.injects_names = version >= Version{1, 34, 0};
    facts.injects_annotations = true;
  }
  const auto nri = read_version(runtime.nri_version());
  facts.has_device_rules = facts.has_device_rules || nri >= Version{0, 10, 0};
  facts.has_net_devices = facts.has_net_devices || nri >= Version{0, 11, 0};
  return facts;
}

}  // namespace nri

#endif  // CDI_TOOLS_NRI_RUNTIME_FACTS_HPP
