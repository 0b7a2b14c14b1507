// Lowers hooks to what they do, so that a container does not need their programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_NVIDIA_HOOK_LOWERING_HPP
#define CDI_NVIDIA_HOOK_LOWERING_HPP

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nvidia/container_outline.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/nvidia/root_changes.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What a hook does.
struct LoweredHook {
  RootChanges changes{};  ///< before the container starts
  /// Links in the /dev that the runtime mounts, to a device node: no change to the root can make
  /// them. Each should be another node, with the type and numbers of the node `target`, an absolute
  /// path.
  std::vector<RootLink> node_links{};
  /// Whether ldconfig must run for the container, after its mounts: only then does the cache list
  /// the libraries. Without ldconfig, glibc finds those in its own default directories only. musl
  /// needs none.
  bool needs_ldconfig = false;
  /// The ldconfig of the host that the hook names: a path that ends in `ldconfig` or
  /// `ldconfig.real`; empty for the usual one.
  std::string ldconfig{};
};

/// What a hook of this point does in a container. Nothing is guessed: `Errc::unsupported`, with the
/// reason, for hooks of the classes `legacy` and `foreign`, for hooks whose arguments are not
/// understood, for effects that mounts would hide, and for hooks of the class `memory_limits` whose
/// container has, or may have, a variable that they read. Such a hook must stay a hook.
Result<LoweredHook> lower_hook(const HookCommand& command, oci::HookPoint point,
                               const SortedOutline& container);

/// What several hooks do together, in their order: as `merge` for their changes, and the first
/// ldconfig that is named. Costs a sort.
LoweredHook merge(std::span<const LoweredHook> hooks);

/// The variables without which hooks of the class `memory_limits` do nothing.
inline constexpr std::array<std::string_view, 2> memory_limit_variables{"NVIDIA_GPU_MEMORY_REQUEST",
                                                                        "NVIDIA_GPU_MEMORY_LIMIT"};

/// The file by which NVIDIA's libraries learn whether they may create device nodes.
inline constexpr std::string_view params_path = "/proc/driver/nvidia/params";

/// The text of a host's `params_path` with `ModifyDeviceFiles: 0` for `ModifyDeviceFiles: 1`;
/// nothing when it has no such line, and no mount is needed.
std::optional<std::string> masked_params(std::string_view params);

/// The mount of a file with the text of `masked_params` over `params_path`, read-only. runc refuses
/// mounts inside /proc in an OCI config; a program can make it after the other mounts.
Mount params_mount(std::string_view host_path);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/hook_lowering.inl>
#endif

#endif  // CDI_NVIDIA_HOOK_LOWERING_HPP
