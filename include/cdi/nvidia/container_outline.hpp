// What hooks depend on in a container: its mounts, device nodes and environment.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// What is mounted over the root of a container, its nodes and its environment. Hooks run after the
/// mounts; changes to the root are made before, and mounts hide them.
struct ContainerOutline {
  /// A mount.
  struct MountPoint {
    std::string destination{};  ///< in the container, absolute
    std::string type{};         ///< such as `tmpfs` or `bind`
  };
  /// A device node.
  struct Node {
    std::string path{};      ///< in the container, absolute
    std::string type{};      ///< as in `DeviceNode`
    std::int64_t minor = 0;  ///< its minor number
  };
  std::vector<MountPoint> mounts{};  ///< all mounts
  std::vector<Node> nodes{};         ///< all device nodes
  /// The variables of its process, such as `A=1`; nothing when they are not known. A hook that
  /// depends on a variable then stays.
  std::optional<std::vector<std::string>> environment{};
};

/// What `lower_hook` needs to know of a container: its outline, in an order in which paths are
/// found fast. To make it costs a sort; one serves all hooks of the container.
class SortedOutline {
 public:
  /// Sorts an outline.
  explicit SortedOutline(ContainerOutline outline);

  /// The innermost mount that hides a path of the root, which is as `clean_path` makes it; null
  /// when there is none. Of two mounts at one place, it is the later one.
  const ContainerOutline::MountPoint* mount_over(std::string_view path) const;
  /// Whether a clean path is that of a device node.
  bool has_node(std::string_view path) const;
  /// Whether a device node is below a directory, given by its clean path.
  bool has_node_below(std::string_view folder) const;
  /// Whether an environment variable is set; nothing when the environment is not known.
  std::optional<bool> has_variable(std::string_view name) const;
  /// The minor numbers of `/dev/nvidia0` to `/dev/nvidia63`: a bit for each.
  std::uint64_t gpu_minors() const { return gpu_minors_; }

 private:
  std::vector<ContainerOutline::MountPoint> mounts_;
  detail::Prefixes folders_;          // the places of `mounts_`
  std::vector<std::string> nodes_{};  // clean paths, in order
  std::vector<std::string> names_{};  // of the variables, in order
  bool has_environment_ = false;
  std::uint64_t gpu_minors_ = 0;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/container_outline.inl>
#endif

#endif  // CDI_NVIDIA_CONTAINER_OUTLINE_HPP
