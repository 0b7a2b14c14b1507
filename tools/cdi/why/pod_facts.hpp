// Gathers what a node and ResourceClaims say about the devices of a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/host/host_tree.hpp"
#include "bundle_file.hpp"
#include "kubelet_files.hpp"
#include "name_report.hpp"
#include "resource_claims.hpp"

/// The annotations of a container in a pod, as containerd and CRI-O write them.
struct PodAnnotations {
  using Names = std::array<std::string_view, 2>;
  static constexpr Names space{"io.kubernetes.cri.sandbox-namespace",
                               "io.kubernetes.pod.namespace"};
  static constexpr Names name{"io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"};
  static constexpr Names uid{"io.kubernetes.cri.sandbox-uid", "io.kubernetes.pod.uid"};
  static constexpr Names container{"io.kubernetes.cri.container-name",
                                   "io.kubernetes.container.name"};
};

/// A pod, and the facts about its devices.
struct PodFacts {
  std::string space{};  // its namespace
  std::string name{};
  std::vector<std::string> uids{};  // several if pods of this name were here before
  std::string uid_source{};
  std::vector<kubelet::ResourceClaim> claims{};
  kubelet::Checkpoint<kubelet::KnownClaim> known{};     // of its pods only
  kubelet::Checkpoint<kubelet::PluginDevices> given{};  // to its containers only
  std::optional<BundleFile> bundle{};

  bool has_uid(std::string_view uid) const {
    return std::find(uids.begin(), uids.end(), uid) != uids.end();
  }

  /// The CDI devices that kubelet passes for the pod, each once.
  std::vector<std::string> cdi_ids() const {
    std::vector<std::string> out;
    const auto add = [&](const std::vector<std::string>& ids) {
      for (const auto& id : ids) {
        if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
      }
    };
    for (const auto& claim : known.entries) {
      for (const auto& device : claim.devices) add(device.cdi_ids);
    }
    for (const auto& one : given.entries) {
      add(one.cdi_ids);
      add(one.annotated);
    }
    return out;
  }
};

namespace detail {

inline void add_uid(PodFacts& facts, const std::string& uid, const std::string& source) {
  if (uid.empty() || facts.has_uid(uid)) return;
  facts.uids.push_back(uid);
  if (facts.uid_source.empty()) facts.uid_source = source;
}

/// Whether the bundle belongs to the pod.
inline bool is_of_pod(const BundleFile& bundle, const PodFacts& facts) {
  return bundle.annotation(PodAnnotations::name) == facts.name &&
         bundle.annotation(PodAnnotations::space) == facts.space;
}

inline void find_uids(const tools::HostTree& tree, const std::string& logs, PodFacts& facts) {
  for (const auto& claim : facts.claims) {
    if (claim.space != facts.space) continue;
    for (const auto& pod : claim.pods) {
      if (pod.name == facts.name) add_uid(facts, pod.uid, claim.file);
    }
  }
  if (facts.bundle && is_of_pod(*facts.bundle, facts)) {
    add_uid(facts, facts.bundle->annotation(PodAnnotations::uid), "the bundle");
  }
  for (const auto& uid : kubelet::logged_pods(tree, logs, facts.space, facts.name)) {
    add_uid(facts, uid, fmt::format("{}/{}_{}_{}", logs, facts.space, facts.name, uid));
  }
}

/// The path of a directory from the command line on the host.
inline std::string place_of(const std::string& dir, const WhyOptions& options) {
  auto path = options.root == "/" ? std::filesystem::absolute(dir).string() : dir;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// Removes facts about other pods.
inline void keep_own(PodFacts& facts) {
  std::erase_if(facts.claims, [&](const auto& claim) {
    return claim.is_listed && (claim.space != facts.space || !claim.is_of(facts.name));
  });
  std::erase_if(facts.known.entries, [&](const auto& claim) {
    return std::none_of(claim.pods.begin(), claim.pods.end(),
                        [&](const auto& uid) { return facts.has_uid(uid); });
  });
  std::erase_if(facts.given.entries, [&](const auto& one) { return !facts.has_uid(one.pod); });
}

}  // namespace detail

/// Reads all files about a pod; `options.pod` is `NAMESPACE/NAME`.
inline cdi::Result<PodFacts> read_pod(const tools::HostTree& tree, const WhyOptions& options) {
  const auto slash = options.pod.find('/');
  PodFacts facts{.space = options.pod.substr(0, slash), .name = options.pod.substr(slash + 1)};
  for (const auto& file : options.claims) {
    auto claims = kubelet::read_claim_file(file);
    if (!claims) return std::move(claims).error();
    for (auto& claim : *claims) facts.claims.push_back(std::move(claim));
  }
  if (!options.bundle.empty()) {
    auto bundle = BundleFile::read(options.bundle);
    if (!bundle) return std::move(bundle).error();
    facts.bundle = *std::move(bundle);
  }
  const auto dir = detail::place_of(options.kubelet_dir, options);
  facts.known = kubelet::read_claims(tree, dir);
  facts.given = kubelet::read_plugin_devices(tree, dir);
  detail::find_uids(tree, detail::place_of(options.logs_dir, options), facts);
  detail::keep_own(facts);
  return facts;
}
