// Replaces hooks by their effects, so that a container does not need their programs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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

namespace cdi::inline CDI_ABI {

/// The effects of a hook.
struct LoweredHook {
  RootChanges changes{};  ///< made before the container starts
  /// Links to device nodes in the /dev that the runtime mounts, where changes to the root have no
  /// effect. For each link, create a node with the type and numbers of the node `target`, an
  /// absolute path.
  std::vector<RootLink> node_links{};
  /// Whether ldconfig must run for the container, after its mounts, so that the cache lists the
  /// libraries. Otherwise, glibc finds libraries only in its default directories; musl never needs
  /// ldconfig.
  bool needs_ldconfig = false;
  /// The ldconfig of the host to run: a path that ends in `ldconfig` or `ldconfig.real`; empty for
  /// the default.
  std::string ldconfig{};
};

/// Returns the effects of a hook at this point in a container, without guessing. Fails with
/// `Errc::unsupported` and the reason if the hook must run: if its class is `legacy` or `foreign`,
/// if its arguments are not understood, if mounts would hide its effects, or if its class is
/// `memory_limits` and the container sets, or may set, a variable that the hook reads.
Result<LoweredHook> lower_hook(const HookCommand& command, oci::HookPoint point,
                               const SortedOutline& container);

/// Returns the combined effects of several hooks, in order: changes are merged as in `merge`, and
/// the first ldconfig path wins. Costs one sort.
LoweredHook merge(std::span<const LoweredHook> hooks);

/// Hooks of the class `memory_limits` do nothing unless one of these variables is set.
inline constexpr std::array<std::string_view, 2> memory_limit_variables{"NVIDIA_GPU_MEMORY_REQUEST",
                                                                        "NVIDIA_GPU_MEMORY_LIMIT"};

/// The file that tells NVIDIA's libraries whether they may create device nodes.
inline constexpr std::string_view params_path = "/proc/driver/nvidia/params";

/// Returns the text of a host's `params_path` with `ModifyDeviceFiles: 1` changed to 0; nullopt
/// when the line is missing, so that no mount is needed.
std::optional<std::string> masked_params(std::string_view params);

/// Returns a read-only mount over `params_path` of a file with the text of `masked_params`. runc
/// rejects mounts inside /proc in an OCI config, but a program can make the mount after all others.
Mount params_mount(std::string_view host_path);

namespace detail {

/// Resolves the target of a link from the link's directory, without `..`.
std::string target_path(std::string_view link, std::string_view target);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/hook_lowering.inl>
#endif

#endif  // CDI_NVIDIA_HOOK_LOWERING_HPP
