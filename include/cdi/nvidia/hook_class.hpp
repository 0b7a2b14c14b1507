// `HookClass`: what a hook does to a container, judged by its program and arguments.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_HOOK_CLASS_HPP
#define CDI_NVIDIA_HOOK_CLASS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What a hook does. All classes except `legacy` and `foreign` are commands of `nvidia-cdi-hook`,
/// which is also called `nvidia-ctk hook`. `rbln-cdi-hook` and `hcu-cdi-hook`, or `hcu-ctk hook`,
/// are forks of it with the first two classes and `chmod`.
enum class HookClass : std::uint8_t {
  symlinks,       ///< `create-symlinks`
  ldcache,        ///< `update-ldcache`, and `create-soname-symlinks` of older releases
  cuda_compat,    ///< `enable-cuda-compat`
  chmod,          ///< `chmod`
  proc_mask,      ///< `disable-device-node-modification`
  profile,        ///< `update-application-profile`
  memory_limits,  ///< `apply-cuda-memory-limits`
  legacy,         ///< `nvidia-container-runtime-hook` or `nvidia-container-toolkit`
  foreign,        ///< any other hook
};

/// A class of hooks: its stable name, and what its hooks do.
struct HookClassRow {
  HookClass id;              ///< the class
  std::string_view name;     ///< for people and programs, such as `cuda-compat`
  std::string_view meaning;  ///< what the hooks of this class do
};

/// All classes, in the order of `HookClass`.
inline constexpr std::array<HookClassRow, 9> hook_classes{{
    {HookClass::symlinks, "symlinks", "creates symbolic links in the container"},
    {HookClass::ldcache, "ldcache", "updates the cache of the container's dynamic linker"},
    {HookClass::cuda_compat, "cuda-compat", "selects the newer CUDA driver library of the image"},
    {HookClass::chmod, "chmod", "changes the modes of files in the container"},
    {HookClass::proc_mask, "proc-mask",
     "prevents the driver's libraries from creating device nodes"},
    {HookClass::profile, "profile", "writes the driver's application profile of the container"},
    {HookClass::memory_limits, "memory-limits", "limits the GPU memory of the container"},
    {HookClass::legacy, "legacy", "injects GPUs itself, without CDI"},
    {HookClass::foreign, "foreign", "is a program whose effect is unknown"},
}};

static_assert(hook_classes.size() == static_cast<std::size_t>(HookClass::foreign) + 1 &&
                  hook_classes.back().id == HookClass::foreign,
              "cdi: give each class of hooks its row; foreign is the last");

/// Returns the stable name of a class, such as `cuda-compat`.
constexpr std::string_view hook_class_name(HookClass id) {
  return hook_classes[static_cast<std::size_t>(id)].name;
}

/// A hook's program and arguments. The texts belong to the hook, which must outlive this struct.
struct HookCommand {
  std::string_view path{};               ///< the path of the program
  std::vector<std::string_view> args{};  ///< with the program's name first, as in execv(3)
};

/// Returns the command of a hook in the CDI or OCI model. The hook must outlive the command.
template <class AnyHook>
HookCommand command_of(const AnyHook& hook) {
  HookCommand command{hook.path, {}};
  for (const auto& argument : hook.args) command.args.emplace_back(argument);
  return command;
}

/// Returns the class of a hook. Only the last element of the program's path matters; `args[0]` is
/// ignored, as the program does. The arguments after the command are not checked.
HookClass classify_hook(const HookCommand& command);

namespace detail {

/// Returns the command of NVIDIA's hook program, or of a fork of it, and its arguments; empty for
/// other programs.
std::span<const std::string_view> hook_arguments(const HookCommand& command);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/hook_class.inl>
#endif

#endif  // CDI_NVIDIA_HOOK_CLASS_HPP
