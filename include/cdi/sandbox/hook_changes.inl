// The bodies of <cdi/sandbox/hook_changes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOK_CHANGES_INL
#define CDI_SANDBOX_HOOK_CHANGES_INL

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/sandbox/hook_changes.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE void HookedContainer::add_node(std::string_view path, std::string_view type,
                                          std::int64_t minor) {
  constexpr std::string_view stem = "/dev/nvidia";
  const auto clean = clean_path(path);
  if (type != "c" || !clean.starts_with(stem) || minor < 0 || minor > 63) return;
  auto digits = std::string_view{clean}.substr(stem.size());
  std::uint32_t number = 0;
  if (!take_number(digits, number) || !digits.empty() || number > 63) return;
  gpus |= std::uint64_t{1} << static_cast<std::uint32_t>(minor);
}

CDI_INLINE void HookedContainer::add_variable(std::string_view entry) {
  const auto name = entry.substr(0, entry.find('='));
  if (name == "NVIDIA_GPU_MEMORY_REQUEST" || name == "NVIDIA_GPU_MEMORY_LIMIT") limit_name = name;
}

inline Error not_replaced(std::string reason) {
  return {.code = Errc::unsupported, .message = std::move(reason)};
}

/// A flag, `--name value` or `--name=value`.
struct HookFlag {
  std::string_view name;
  std::string_view value;
};

/// Returns the flags after the command in `arguments`; flags outside `known` are an error.
inline Result<std::vector<HookFlag>> hook_flags(std::span<const std::string_view> arguments,
                                                std::span<const std::string_view> known) {
  const auto not_understood = [](std::string_view argument) {
    return not_replaced("its argument " + cdi::quoted(argument) + " is not understood");
  };
  std::vector<HookFlag> flags;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto argument = arguments[i];
    if (!argument.starts_with("--")) return not_understood(argument);
    const auto equals = argument.find('=');
    HookFlag flag{argument.substr(2, equals - 2), {}};
    bool is_known = false;
    for (const auto name : known) is_known = is_known || name == flag.name;
    const bool has_value = equals != std::string_view::npos || i + 1 < arguments.size();
    if (!is_known || !has_value) return not_understood(argument);
    flag.value = equals != std::string_view::npos ? argument.substr(equals + 1) : arguments[++i];
    // The program splits lists at commas. Control characters must be a mistake.
    for (const char c : flag.value) {
      if (c == ',' || static_cast<unsigned char>(c) < ' ') return not_understood(flag.value);
    }
    if (flag.value.empty() || flag.value.starts_with("--")) return not_understood(argument);
    flags.push_back(flag);
  }
  return flags;
}

/// The maximum length of a path, and of a link's target, in bytes.
inline constexpr std::size_t max_path_bytes = 4095;

/// Returns whether a path is absolute and usable on Linux, without `..`, and not the root.
inline bool is_plain_path(std::string_view path) {
  if (path.size() > max_path_bytes) return false;
  if (!path.starts_with('/') || clean_path(path) == "/") return false;
  return !has_parent_part(path) && !has_long_name(path);
}

inline Error bad_path(std::string_view path) {
  if (path.size() > max_path_bytes) {
    return not_replaced("its path " + cdi::quoted(path) + " is longer than 4095 bytes");
  }
  return not_replaced("its path " + cdi::quoted(path) +
                      (has_long_name(path) ? " contains a name longer than 255 bytes"
                                           : " is not an absolute path under the root without .."));
}

inline Result<void> read_link(std::string_view value, HookChanges& out) {
  const auto colons = value.find("::");
  const bool is_pair = colons != std::string_view::npos && colons != 0 &&
                       value.find("::", colons + 2) == std::string_view::npos;
  if (!is_pair) return not_replaced("its link " + cdi::quoted(value) + " is not TARGET::LINK");
  const auto target = value.substr(0, colons);
  const auto written = value.substr(colons + 2);
  if (!is_plain_path(written)) return bad_path(written);
  if (written.ends_with('/')) {
    return not_replaced("its link " + cdi::quoted(written) + " ends with a slash");
  }
  if (target.size() > max_path_bytes) {
    return not_replaced("the target of its link " + cdi::quoted(written) +
                        " is longer than 4095 bytes");
  }
  out.links.push_back({clean_path(written), std::string{target}});
  return {};
}

inline Result<void> read_symlinks(std::span<const HookFlag> flags, HookChanges& out) {
  if (flags.empty()) return not_replaced("the option --link is missing");
  for (const auto& flag : flags) {
    if (auto done = read_link(flag.value, out); !done) return done;
  }
  return {};
}

/// Returns whether LD_LIBRARY_PATH and musl's path file can list a directory.
inline bool is_plain_folder(std::string_view folder) {
  return is_plain_path(folder) && folder.find_first_of(" :;#=*?[\\") == std::string_view::npos;
}

inline Result<void> check_folder(std::string_view folder) {
  if (!is_plain_path(folder)) return bad_path(folder);
  if (is_plain_folder(folder)) return {};
  return not_replaced("the linker's files cannot list its directory " + cdi::quoted(folder));
}

inline Result<void> read_ldcache(std::span<const HookFlag> flags, HookChanges& out) {
  for (const auto& flag : flags) {
    if (flag.name == "ldconfig-path") continue;  // no ldconfig runs
    if (auto good = check_folder(flag.value); !good) return good;
    out.library_folders.push_back(clean_path(flag.value));
  }
  return {};
}

inline bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.front() != '.';
}

inline Result<void> read_cuda_compat(std::span<const HookFlag> flags, HookChanges& out) {
  CudaCompat compat{.folder = "/usr/local/cuda/compat"};
  for (const auto& flag : flags) {
    if (flag.name == "cuda-compat-container-root") {
      if (auto good = check_folder(flag.value); !good) return good;
      compat.folder = clean_path(flag.value);
      continue;
    }
    if (!is_version(flag.value)) {
      return not_replaced("its version " + cdi::quoted(flag.value) + " is not understood");
    }
    const bool is_driver = flag.name == "host-driver-version";
    (is_driver ? compat.host_driver_version : compat.host_cuda_version) = flag.value;
  }
  if (compat.host_driver_version.empty() && compat.host_cuda_version.empty()) return {};
  out.cuda_compat.push_back(std::move(compat));
  return {};
}

inline Result<void> read_chmod(std::span<const HookFlag> flags, HookChanges& out) {
  std::optional<std::uint32_t> mode;
  for (const auto& flag : flags) {
    if (flag.name != "mode") continue;
    if (mode) return not_replaced("it repeats the option --mode");
    mode = parse_mode(flag.value);
    if (!mode) return not_replaced("its mode " + cdi::quoted(flag.value) + " is not octal");
  }
  if (!mode) return not_replaced("the option --mode is missing");
  for (const auto& flag : flags) {
    if (flag.name != "path") continue;
    if (!is_plain_path(flag.value)) return bad_path(flag.value);
    out.modes.push_back({clean_path(flag.value), *mode});
  }
  return {};
}

/// Reads a hook that writes nothing in a container without GPUs.
inline void read_profile(const HookedContainer& container, HookChanges& out) {
  if (container.gpus == 0) return;
  constexpr std::string_view path =
      "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf";
  std::string digits;
  for (auto rest = container.gpus; rest != 0; rest /= 16) {
    digits.insert(0, 1, "0123456789abcdef"[rest % 16]);
  }
  out.files.push_back(
      {std::string{path}, R"({"profiles":[{"name":"_container_","settings":)"
                          R"(["EGLVisibleDGPUDevices",0x)" +
                              digits +
                              R"(]}],"rules":[{"pattern":[],"profile":"_container_"}]})"
                              "\n"});
}

/// Reads a hook that does nothing in a container without variables that limit the memory.
inline Result<void> read_memory_limits(std::span<const HookFlag> flags,
                                       const HookedContainer& container) {
  bool has_gpu = false;
  for (const auto& flag : flags) {
    has_gpu = has_gpu || flag.name == "gpu-id";
    if (flag.name == "gpu-id" && flag.value.find_first_not_of(' ') == std::string_view::npos) {
      return not_replaced("its --gpu-id is empty");
    }
    if (flag.name == "container-spec" && flag.value != "-") {
      return not_replaced("its --container-spec " + cdi::quoted(flag.value) +
                          " may refer to another container");
    }
  }
  if (!has_gpu) return not_replaced("the option --gpu-id is missing");
  if (container.limit_name.empty()) return {};
  return not_replaced("it reads the variable " + std::string{container.limit_name});
}

/// Returns the flags that the commands of a class accept.
inline std::span<const std::string_view> flags_of(HookClass id) {
  static constexpr std::string_view symlinks[] = {"link"};
  static constexpr std::string_view ldcache[] = {"folder", "ldconfig-path"};
  static constexpr std::string_view compat[] = {"host-driver-version", "host-cuda-version",
                                                "cuda-compat-container-root"};
  static constexpr std::string_view chmod[] = {"mode", "path"};
  static constexpr std::string_view limits[] = {"driver-root", "gpu-id", "container-spec"};
  switch (id) {
    case HookClass::symlinks: return symlinks;
    case HookClass::ldcache: return ldcache;
    case HookClass::cuda_compat: return compat;
    case HookClass::chmod: return chmod;
    case HookClass::memory_limits: return limits;
    case HookClass::proc_mask:
    case HookClass::profile:
    case HookClass::legacy:
    case HookClass::foreign: break;
  }
  return {};
}

inline Result<void> read_flags(HookClass id, std::span<const HookFlag> flags,
                               const HookedContainer& container, HookChanges& out) {
  switch (id) {
    case HookClass::symlinks: return read_symlinks(flags, out);
    case HookClass::ldcache: return read_ldcache(flags, out);
    case HookClass::cuda_compat: return read_cuda_compat(flags, out);
    case HookClass::chmod: return read_chmod(flags, out);
    case HookClass::profile: read_profile(container, out); break;
    case HookClass::memory_limits: return read_memory_limits(flags, container);
    case HookClass::proc_mask: out.masks_params = true; break;
    case HookClass::legacy:
    case HookClass::foreign: break;
  }
  return {};
}

CDI_INLINE Result<HookChanges> changes_of(const HookCommand& command, oci::HookPoint point,
                                          const HookedContainer& container) {
  const auto id = classify_hook(command);
  if (id == HookClass::legacy || id == HookClass::foreign) {
    return not_replaced("it " + std::string{hook_classes[static_cast<std::size_t>(id)].meaning});
  }
  if (point > oci::HookPoint::create_container) {
    return not_replaced("it runs at " + std::string{oci::hook_point_name(point)} +
                        ", after the container is created");
  }
  const auto flags = hook_flags(hook_arguments(command), flags_of(id));
  if (!flags) return flags.error();
  HookChanges out;
  if (auto done = read_flags(id, *flags, container, out); !done) return done.error();
  return out;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_HOOK_CHANGES_INL
