// Devices whose host paths have their links resolved, for `cdi inject --policy --resolve-links`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/host.hpp>

/// Devices in copies of their specs with links resolved in host paths, so that the policy checks
/// the paths that are written.
class ResolvedLinks {
 public:
  /// The copies, valid as long as this object.
  const std::vector<cdi::ResolvedDevice>& devices() const { return devices_; }

  /// Adds a copy of a device. Links are resolved under the directory `root`. Fails with
  /// `Errc::host` and the place of the path.
  cdi::Result<void> add(const cdi::ResolvedDevice& found, const std::string& root) {
    auto& copy = copies_[found.spec];
    if (copy == nullptr) {
      found.spec->positions();  // shared by the copy, which differs from the file
      copy = &specs_.emplace_back(*found.spec);
      if (auto r = resolve(*copy, copy->spec.container_edits, "containerEdits", root); !r) return r;
    }
    auto& device = copy->spec.devices[found.index()];
    const auto where = cdi::detail::item_path("devices", found.index()) + ".containerEdits";
    if (auto r = resolve(*copy, device.container_edits, where, root); !r) return r;
    devices_.push_back({copy, &device});
    return {};
  }

 private:
  /// Resolves the links in the host paths of the edits at `outer` in the spec.
  static cdi::Result<void> resolve(const cdi::LoadedSpec& spec, cdi::ContainerEdits& edits,
                                   const std::string& outer, const std::string& root) {
    const auto replace = [&](const std::string& path, std::string& by, const std::string& where) {
      auto resolved = cdi::resolve_host_links(path, root);
      if (resolved) {
        by = *std::move(resolved);
        return cdi::Result<void>{};
      }
      auto error = std::move(resolved).error();
      error.where = outer + "." + where + ".hostPath";
      error.position = spec.locate(error.where);
      return cdi::Result<void>{std::move(error)};
    };
    for (std::size_t i = 0; i < edits.device_nodes.size(); ++i) {
      auto& node = edits.device_nodes[i];
      const auto& path = node.host_path.empty() ? node.path : node.host_path;
      if (auto r = replace(path, node.host_path, cdi::detail::item_path("deviceNodes", i)); !r)
        return r;
    }
    for (std::size_t i = 0; i < edits.mounts.size(); ++i) {
      auto& path = edits.mounts[i].host_path;
      if (auto r = replace(path, path, cdi::detail::item_path("mounts", i)); !r) return r;
    }
    return {};
  }

  std::list<cdi::LoadedSpec> specs_{};
  std::map<const cdi::LoadedSpec*, cdi::LoadedSpec*> copies_{};
  std::vector<cdi::ResolvedDevice> devices_{};
};
