// The bodies of <cdi/nvidia/container_outline.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_CONTAINER_OUTLINE_INL
#define CDI_NVIDIA_CONTAINER_OUTLINE_INL

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/nvidia/container_outline.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Returns the minor number of `/dev/nvidia0` to `/dev/nvidia63`, or nullopt. `path` is clean.
inline std::optional<std::uint32_t> gpu_minor(std::string_view path,
                                              const ContainerOutline::Node& node) {
  constexpr std::string_view stem = "/dev/nvidia";
  if (node.type != "c" || !path.starts_with(stem)) return std::nullopt;
  auto digits = path.substr(stem.size());
  std::uint32_t number = 0;
  if (!take_number(digits, number) || !digits.empty() || number > 63) return std::nullopt;
  if (node.minor < 0 || node.minor > 63) return std::nullopt;
  return static_cast<std::uint32_t>(node.minor);
}

/// Returns the clean paths of the mounts with a final slash, so that each path inside a mount
/// begins with the mount's path. Runtimes resolve relative destinations from the root. A mount over
/// / is the root itself, which hides nothing: no path begins with two slashes.
inline std::vector<std::string> folders_of(
    const std::vector<ContainerOutline::MountPoint>& mounts) {
  std::vector<std::string> folders;
  for (const auto& mount : mounts) {
    folders.push_back(clean_path(std::string{"/"}.append(mount.destination)).append("/"));
  }
  return folders;
}

inline std::vector<std::string> in_order(std::vector<std::string> texts) {
  std::vector<std::string> sorted;
  const auto is_before = [&](std::size_t a, std::size_t b) {
    return texts[a] < texts[b];
  };
  for (const std::size_t i : order_of(texts.size(), is_before)) {
    sorted.push_back(std::move(texts[i]));
  }
  return sorted;
}

/// Returns the index of the first of the sorted texts that does not come before `text`.
inline std::size_t first_from(const std::vector<std::string>& texts, std::string_view text) {
  return count_first(texts.size(), [&](std::size_t i) { return texts[i] < text; });
}

}  // namespace detail

CDI_INLINE SortedOutline::SortedOutline(ContainerOutline outline)
    : mounts_{std::move(outline.mounts)}, folders_{detail::folders_of(mounts_)} {
  std::vector<std::string> paths;
  for (const auto& node : outline.nodes) {
    paths.push_back(clean_path(node.path));
    if (const auto minor = detail::gpu_minor(paths.back(), node)) {
      gpu_minors_ |= std::uint64_t{1} << *minor;
    }
  }
  nodes_ = detail::in_order(std::move(paths));
  has_environment_ = outline.environment.has_value();
  if (!has_environment_) return;
  std::vector<std::string> names;
  for (const auto& entry : *outline.environment) names.push_back(entry.substr(0, entry.find('=')));
  names_ = detail::in_order(std::move(names));
}

CDI_INLINE auto SortedOutline::mount_over(std::string_view path) const
    -> const ContainerOutline::MountPoint* {
  const ContainerOutline::MountPoint* found = nullptr;
  folders_.any(std::string{path}.append("/"), [&](std::size_t i) {
    found = &mounts_[i];
    return true;
  });
  return found;
}

CDI_INLINE bool SortedOutline::has_node(std::string_view path) const {
  const auto first = detail::first_from(nodes_, path);
  return first < nodes_.size() && nodes_[first] == path;
}

CDI_INLINE bool SortedOutline::has_node_below(std::string_view folder) const {
  const auto begin = std::string{folder}.append("/");
  const auto first = detail::first_from(nodes_, begin);
  return first < nodes_.size() && nodes_[first].starts_with(begin);
}

CDI_INLINE std::optional<bool> SortedOutline::has_variable(std::string_view name) const {
  if (!has_environment_) return std::nullopt;
  const auto first = detail::first_from(names_, name);
  return first < names_.size() && names_[first] == name;
}

}  // namespace cdi

#endif  // CDI_NVIDIA_CONTAINER_OUTLINE_INL
