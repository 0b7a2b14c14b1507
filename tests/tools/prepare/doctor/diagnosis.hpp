// The findings of doctor on a made-up host, for the tests of its parts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../../tools/gpu/findings/finding.hpp"
#include "../../../../tools/gpu/model/gpu.hpp"
#include "../../../../tools/kit/engines/installed_versions.hpp"
#include "../../../../tools/prepare/doctor/doctor.hpp"
#include "../../../support/made_up_host.hpp"

// What `doctor` finds on a made-up host, for the tests of its parts.

namespace prepare {

using Level = Finding::Level;
using Host = MadeUpHost;

/// A host with a GPU that works.
inline Inventory inventory() {
  Gpu gpu{.vendor = "nvidia", .id = "GPU-1", .pci_address = "0000:17:00.0", .driver = "nvidia"};
  gpu.whole.nodes.push_back({{.path = "/dev/nvidia0", .major = 195, .minor = 0}});
  Inventory found{.kind = "nvidia.com/gpu"};
  found.gpus.push_back(std::move(gpu));
  return found;
}

/// The annotation of a file that `cdi-prepare write` wrote.
inline const std::string our_owner = R"("cdi-publisher/owner": "cdi-prepare")";

/// A spec of the GPU above.
inline std::string spec_of_gpu(int major, const std::string& annotations) {
  return R"({"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "annotations": )" + annotations +
         R"(, "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0",
             "type": "c", "major": )" +
         std::to_string(major) + "}]}}]}";
}

inline std::vector<Finding> diagnose(const Host& host, std::vector<Inventory> inventories = {},
                                     const DoctorOptions& options = {}) {
  const auto engines = tools::EngineVersions{tools::VersionsFrom::packages}.engines(host.tree());
  auto findings = diagnose_host(host.tree(), inventories, engines, options);
  for (const auto& finding : findings) {
    CAPTURE(finding.what);
    CHECK_FALSE(finding.about.empty());
    CHECK_FALSE(finding.what.empty());
    CHECK(finding.advice.empty() == (finding.level == Level::good));
  }
  return findings;
}

/// The findings about something.
inline std::vector<Finding> about(const std::vector<Finding>& findings, std::string_view what) {
  std::vector<Finding> out;
  for (const auto& finding : findings) {
    if (finding.about == what) out.push_back(finding);
  }
  return out;
}

/// Whether a finding is all there is about something, and holds all of these texts.
inline bool is_only(const std::vector<Finding>& findings, std::string_view what, Level level,
                    std::initializer_list<std::string_view> parts) {
  const auto found = about(findings, what);
  if (found.size() != 1 || found.front().level != level) {
    MESSAGE(findings_as_text(findings));
    return false;
  }
  const auto text = found.front().what + "\n" + found.front().advice;
  for (const auto part : parts) {
    if (text.find(part) == std::string::npos) {
      MESSAGE(text);
      return false;
    }
  }
  return true;
}

}  // namespace prepare
