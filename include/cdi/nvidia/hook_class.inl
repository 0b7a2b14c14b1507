// The bodies of <cdi/nvidia/hook_class.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_HOOK_CLASS_INL
#define CDI_NVIDIA_HOOK_CLASS_INL

#include <cdi/nvidia/hook_class.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// A command of NVIDIA's hook program.
struct HookSubcommand {
  std::string_view name;
  HookClass id;
};

inline constexpr HookSubcommand hook_subcommands[] = {
    {"create-symlinks", HookClass::symlinks},
    {"update-ldcache", HookClass::ldcache},
    {"create-soname-symlinks", HookClass::ldcache},
    {"enable-cuda-compat", HookClass::cuda_compat},
    {"chmod", HookClass::chmod},
    {"disable-device-node-modification", HookClass::proc_mask},
    {"update-application-profile", HookClass::profile},
    {"apply-cuda-memory-limits", HookClass::memory_limits},
};

/// Whether a program is a fork of NVIDIA's that has only its oldest commands.
constexpr bool is_fork(std::string_view program) {
  return program == "rbln-cdi-hook" || program == "hcu-cdi-hook" || program == "hcu-ctk";
}

/// Whether the forks have a command.
constexpr bool forks_have(HookClass id) {
  return id == HookClass::symlinks || id == HookClass::ldcache || id == HookClass::chmod;
}

CDI_INLINE std::span<const std::string_view> hook_arguments(const HookCommand& command) {
  const auto program = command.path.substr(command.path.rfind('/') + 1);
  std::size_t skipped = 1;  // the name of the program
  if (program == "nvidia-ctk" || program == "hcu-ctk") {
    skipped = command.args.size() > 1 && command.args[1] == "hook" ? 2 : command.args.size();
  } else if (program != "nvidia-cdi-hook" && !is_fork(program)) {
    return {};
  }
  if (command.args.size() <= skipped) return {};
  return std::span{command.args}.subspan(skipped);
}

}  // namespace detail

CDI_INLINE HookClass classify_hook(const HookCommand& command) {
  const auto program = command.path.substr(command.path.rfind('/') + 1);
  if (program == "nvidia-container-runtime-hook" || program == "nvidia-container-toolkit") {
    return HookClass::legacy;
  }
  const auto arguments = detail::hook_arguments(command);
  if (arguments.empty()) return HookClass::foreign;
  for (const auto& known : detail::hook_subcommands) {
    if (known.name != arguments.front()) continue;
    return detail::is_fork(program) && !detail::forks_have(known.id) ? HookClass::foreign
                                                                     : known.id;
  }
  return HookClass::foreign;
}

}  // namespace cdi

#endif  // CDI_NVIDIA_HOOK_CLASS_INL
