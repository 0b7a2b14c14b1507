// `HookLinks`: the links that hooks make, as mounts and nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOK_LINKS_HPP
#define CDI_SANDBOX_HOOK_LINKS_HPP

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/sandbox/changed_plan.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/sandbox/hook_effects.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Makes the links of all hooks of a plan: what a link leads to is mounted, or made, under the path
/// of the link, too. All links are added before the first is made, because links lead to others.
class HookLinks {
 public:
  using Targets = std::map<std::string, std::string, std::less<>>;

  /// The arguments must outlive this object; the image is nullopt if it is unknown.
  HookLinks(ChangedPlan& plan, const DriverLibraries& libraries,
            const std::optional<ImageRoot>& image)
      : plan_{plan}, libraries_{libraries}, image_{image} {}

  /// Adds a link, in place of one with the same path.
  void add(const HookLink& link) { links_[link.path] = link.target; }

  /// Returns the targets of the links, by their paths.
  const Targets& targets() const { return links_; }

  /// Follows the links that hooks make; the result is a clean path in the container.
  std::string followed(const HookLink& link) const {
    constexpr int max_links = 40;
    auto path = target_of(link.path, link.target);
    for (int i = 0; i < max_links; ++i) {
      const auto next = links_.find(path);
      if (next == links_.end()) break;
      path = target_of(next->first, next->second);
    }
    return path;
  }

  /// Makes a link of a hook, and notes how.
  void make(const HookEffects& one, const HookLink& link) {
    if (links_[link.path] != link.target) {
      return plan_.note(one, HookWay::nothing, link.path, "a later link has the same path");
    }
    if (const auto there = plan_.files.find(link.path)) return link_in_mount(one, link, *there);
    const auto target = followed(link);
    if (const auto node = plan_.nodes.find(target); node != plan_.nodes.end()) {
      return plan_.add_node(one, node->second, link.path);
    }
    const auto found = file_at(target);
    if (!found) return link_in_image(one, link, target);
    plan_.add_mount(one, found->host, link.path, *found->mount);
    plan_.note(one, HookWay::mounts, link.path,
               "the file of the link is mounted under its name too");
  }

  /// Returns the mounted file that a path leads to, or else the library that has this path only by
  /// its SONAME.
  std::optional<ContainerFiles::Found> file_at(const std::string& path) const {
    const auto mounted = plan_.files.find(path);
    if (mounted && mode_of(mounted->host) != 0) return mounted;
    const auto* const library = libraries_.find(path);
    if (library == nullptr) return std::nullopt;
    return ContainerFiles::Found{library->host, library->mount, true};
  }

 private:
  /// Resolves the target of a link from the link's directory.
  static std::string target_of(std::string_view link, std::string_view target) {
    if (target.starts_with('/')) return clean_path(target);
    return clean_path(std::string{link.substr(0, link.rfind('/') + 1)}.append(target));
  }

  /// A path that is mounted, or is in a directory of the host, in which nothing is made.
  void link_in_mount(const HookEffects& one, const HookLink& link,
                     const ContainerFiles::Found& there) {
    if (there.is_mount) {
      return plan_.note(one, HookWay::nothing, link.path, "a file is already mounted at this path");
    }
    if (mode_of(there.host) != 0) {
      return plan_.note(one, HookWay::nothing, link.path, "the mounted directory has this file");
    }
    plan_.note(
        one, HookWay::lost, link.path,
        "the mounted directory of the host has no file of this name, and nothing is written in "
        "it: programs that open this path fail");
  }

  void link_in_image(const HookEffects& one, const HookLink& link, const std::string& target) {
    if (!image_) {
      return plan_.note(
          one, HookWay::lost, link.path,
          "its target " + cdi::quoted(target) +
              " is not a file of the devices, and the image is unknown: programs that "
              "open this path fail unless the image has it");
    }
    const auto old = image_->resolve(link.path);
    const auto resolved = image_->resolve(target);
    if (old && (!resolved || *old == *resolved)) {
      return plan_.note(one, HookWay::nothing, link.path, "the image has this file");
    }
    if (!resolved) {
      return plan_.note(
          one, HookWay::nothing, link.path,
          "its target " + cdi::quoted(target) + " exists in neither image nor devices");
    }
    // No path in an image is the source of a mount: a runtime would follow links that the container
    // has put there since, and mount a directory of the host.
    plan_.note(one, HookWay::lost, link.path,
               "its target " + cdi::quoted(target) +
                   " is a file of the image, which may lead anywhere on the host when the "
                   "container starts: programs that open this path fail or find the image's file");
  }

  ChangedPlan& plan_;
  const DriverLibraries& libraries_;
  const std::optional<ImageRoot>& image_;
  Targets links_{};
};

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_HOOK_LINKS_HPP
