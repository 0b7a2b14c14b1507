// What hooks depend on in a container: its mounts, device nodes and environment.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_CONTAINER_OUTLINE_HPP
#define CDI_NVIDIA_CONTAINER_OUTLINE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/rules/prefixes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A container's mounts, device nodes and environment. Hooks run after the mounts, but changes to
/// the root precede the mounts, which may hide them.
struct ContainerOutline {
  /// A mount.
  struct MountPoint {
    std::string destination{};  ///< an absolute path in the container
    std::string type{};         ///< such as `tmpfs` or `bind`
  };
  /// A device node.
  struct Node {
    std::string path{};      ///< an absolute path in the container
    std::string type{};      ///< as in `DeviceNode`
    std::int64_t minor = 0;  ///< the minor number
  };
  std::vector<MountPoint> mounts{};  ///< all mounts
  std::vector<Node> nodes{};         ///< all device nodes
  /// The variables of the container's process, such as `A=1`; nullopt if unknown. Hooks that depend
  /// on a variable then stay hooks.
  std::optional<std::vector<std::string>> environment{};
};

/// A container's outline, sorted so that `lower_hook` finds paths fast. One sort serves all hooks
/// of the container.
class SortedOutline {
 public:
  /// Sorts an outline.
  explicit SortedOutline(ContainerOutline outline);

  /// Returns the innermost mount that hides a clean path in the root, or null if none does. Of two
  /// mounts over the same directory, the later one is returned.
  const ContainerOutline::MountPoint* mount_over(std::string_view path) const;
  /// Returns whether a device node has this clean path.
  bool has_node(std::string_view path) const;
  /// Returns whether a device node is inside a directory, which is a clean path.
  bool has_node_below(std::string_view folder) const;
  /// Returns whether an environment variable is set; nullopt when the environment is unknown.
  std::optional<bool> has_variable(std::string_view name) const;
  /// Returns the minor numbers of `/dev/nvidia0` to `/dev/nvidia63`, one bit for each.
  std::uint64_t gpu_minors() const { return gpu_minors_; }

 private:
  std::vector<ContainerOutline::MountPoint> mounts_;
  detail::Prefixes folders_;          // the directories of `mounts_`
  std::vector<std::string> nodes_{};  // clean paths, sorted
  std::vector<std::string> names_{};  // the names of the variables, sorted
  bool has_environment_ = false;
  std::uint64_t gpu_minors_ = 0;
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/container_outline.inl>
#endif

#endif  // CDI_NVIDIA_CONTAINER_OUTLINE_HPP
