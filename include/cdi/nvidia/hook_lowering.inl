// The bodies of <cdi/nvidia/hook_lowering.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_HOOK_LOWERING_INL
#define CDI_NVIDIA_HOOK_LOWERING_INL

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/nvidia/hook_class.inl>
#include <cdi/nvidia/hook_lowering.hpp>
#include <cdi/nvidia/root_changes.inl>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline Error not_lowered(std::string reason) {
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
    return not_lowered("its argument " + cdi::quoted(argument) + " is not understood");
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
    return not_lowered("its path " + cdi::quoted(path) + " is longer than 4095 bytes");
  }
  return not_lowered("its path " + cdi::quoted(path) +
                     (has_long_name(path) ? " contains a name longer than 255 bytes"
                                          : " is not an absolute path under the root without .."));
}

inline Error hidden(std::string_view path, const ContainerOutline::MountPoint& mount) {
  return not_lowered("the mount of " + cdi::quoted(mount.destination) + " would hide " +
                     cdi::quoted(path) + " in the root");
}

/// Returns whether the runtime fills this mount with the container's device nodes.
inline bool is_runtime_dev(const ContainerOutline::MountPoint& mount) {
  return clean_path(mount.destination) == "/dev" && mount.type == "tmpfs";
}

CDI_INLINE std::string target_path(std::string_view link, std::string_view target) {
  if (target.starts_with('/')) return clean_path(target);
  return clean_path(std::string{link.substr(0, link.rfind('/') + 1)}.append(target));
}

inline Result<void> lower_link(std::string_view value, const SortedOutline& container,
                               LoweredHook& out) {
  const auto colons = value.find("::");
  const bool is_pair = colons != std::string_view::npos && colons != 0 &&
                       value.find("::", colons + 2) == std::string_view::npos;
  if (!is_pair) return not_lowered("its link " + cdi::quoted(value) + " is not TARGET::LINK");
  const auto target = value.substr(0, colons);
  const auto written = value.substr(colons + 2);
  if (!is_plain_path(written)) return bad_path(written);
  if (written.ends_with('/')) {
    return not_lowered("its link " + cdi::quoted(written) + " ends with a slash");
  }
  if (target.size() > max_path_bytes) {
    return not_lowered("the target of its link " + cdi::quoted(written) +
                       " is longer than 4095 bytes");
  }
  const auto path = clean_path(written);
  const auto* const mount = container.mount_over(path);
  if (mount == nullptr) {
    out.changes.links.push_back({path, std::string{target}});
    return {};
  }
  auto node = target_path(path, target);
  if (!is_runtime_dev(*mount) || !container.has_node(node)) return hidden(path, *mount);
  if (!container.has_node(path)) out.node_links.push_back({path, std::move(node)});
  return {};
}

inline Result<void> lower_symlinks(std::span<const HookFlag> flags, const SortedOutline& container,
                                   LoweredHook& out) {
  if (flags.empty()) return not_lowered("the option --link is missing");
  for (const auto& flag : flags) {
    if (auto done = lower_link(flag.value, container, out); !done) return done;
  }
  return {};
}

/// Returns whether a directory is read back correctly from ld.so.conf.d and musl's path file.
inline bool is_plain_folder(std::string_view folder) {
  return is_plain_path(folder) && folder.find_first_of(" :;#=*?[\\") == std::string_view::npos;
}

inline Result<void> check_folder(std::string_view folder) {
  if (!is_plain_path(folder)) return bad_path(folder);
  if (is_plain_folder(folder)) return {};
  return not_lowered("the linker's files cannot list its directory " + cdi::quoted(folder));
}

/// Checks the program that would run on the host for a container.
inline Result<void> check_ldconfig(std::string_view path) {
  if (!is_plain_path(path)) return bad_path(path);
  const auto name = path.substr(path.rfind('/') + 1);
  if (name == "ldconfig" || name == "ldconfig.real") return {};
  return not_lowered("its --ldconfig-path " + cdi::quoted(path) +
                     " is not named ldconfig or ldconfig.real");
}

inline Result<void> lower_ldcache(std::span<const HookFlag> flags, const SortedOutline& container,
                                  LoweredHook& out) {
  constexpr std::string_view conf = "/etc/ld.so.conf.d/00-cdi.conf";
  if (const auto* mount = container.mount_over(conf)) return hidden(conf, *mount);
  out.needs_ldconfig = true;
  for (const auto& flag : flags) {
    if (flag.name == "ldconfig-path") {
      if (!out.ldconfig.empty()) return not_lowered("it repeats the option --ldconfig-path");
      out.ldconfig = flag.value.substr(flag.value.starts_with('@') ? 1 : 0);
      if (auto good = check_ldconfig(out.ldconfig); !good) return good;
      continue;
    }
    if (auto good = check_folder(flag.value); !good) return good;
    out.changes.library_folders.push_back(clean_path(flag.value));
  }
  return {};
}

inline bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.front() != '.';
}

inline Result<void> lower_cuda_compat(std::span<const HookFlag> flags,
                                      const SortedOutline& container, LoweredHook& out) {
  CudaCompat compat{.folder = "/usr/local/cuda/compat"};
  for (const auto& flag : flags) {
    if (flag.name == "cuda-compat-container-root") {
      if (auto good = check_folder(flag.value); !good) return good;
      compat.folder = clean_path(flag.value);
      continue;
    }
    if (!is_version(flag.value)) {
      return not_lowered("its version " + cdi::quoted(flag.value) + " is not understood");
    }
    const bool is_driver = flag.name == "host-driver-version";
    (is_driver ? compat.host_driver_version : compat.host_cuda_version) = flag.value;
  }
  if (compat.host_driver_version.empty() && compat.host_cuda_version.empty()) return {};
  constexpr std::string_view conf = "/etc/ld.so.conf.d/00-cdi-compat.conf";
  for (const std::string_view path : {std::string_view{compat.folder}, conf}) {
    if (const auto* mount = container.mount_over(path)) return hidden(path, *mount);
  }
  out.changes.cuda_compat.push_back(std::move(compat));
  return {};
}

/// Returns whether the runtime creates this directory, with mode 0755, for a node inside it.
inline bool is_runtime_folder(const SortedOutline& container, std::string_view path) {
  const auto* const mount = container.mount_over(path);
  return mount != nullptr && is_runtime_dev(*mount) && container.has_node_below(path);
}

inline Result<void> lower_chmod(std::span<const HookFlag> flags, const SortedOutline& container,
                                LoweredHook& out) {
  std::optional<std::uint32_t> mode;
  for (const auto& flag : flags) {
    if (flag.name != "mode") continue;
    if (mode) return not_lowered("it repeats the option --mode");
    mode = parse_mode(flag.value);
    if (!mode) return not_lowered("its mode " + cdi::quoted(flag.value) + " is not octal");
  }
  if (!mode) return not_lowered("the option --mode is missing");
  for (const auto& flag : flags) {
    if (flag.name != "path") continue;
    if (!is_plain_path(flag.value)) return bad_path(flag.value);
    auto path = clean_path(flag.value);
    if (*mode == 0755 && is_runtime_folder(container, path)) continue;
    if (const auto* mount = container.mount_over(path)) return hidden(path, *mount);
    out.changes.modes.push_back({std::move(path), *mode});
  }
  return {};
}

/// Lowers a hook that writes nothing in a container without GPUs.
inline Result<void> lower_profile(const SortedOutline& container, LoweredHook& out) {
  if (container.gpu_minors() == 0) return {};
  constexpr std::string_view path =
      "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf";
  if (const auto* mount = container.mount_over(path)) return hidden(path, *mount);
  std::string digits;
  for (auto rest = container.gpu_minors(); rest != 0; rest /= 16) {
    digits.insert(0, 1, "0123456789abcdef"[rest % 16]);
  }
  out.changes.files.push_back(
      {std::string{path}, R"({"profiles":[{"name":"_container_","settings":)"
                          R"(["EGLVisibleDGPUDevices",0x)" +
                              digits +
                              R"(]}],"rules":[{"pattern":[],"profile":"_container_"}]})"
                              "\n"});
  return {};
}

/// Lowers a hook that does nothing in a container without these variables.
inline Result<void> lower_memory_limits(std::span<const HookFlag> flags,
                                        const SortedOutline& container) {
  bool has_gpu = false;
  for (const auto& flag : flags) {
    has_gpu = has_gpu || flag.name == "gpu-id";
    if (flag.name == "gpu-id" && flag.value.find_first_not_of(' ') == std::string_view::npos) {
      return not_lowered("its --gpu-id is empty");
    }
    if (flag.name == "container-spec" && flag.value != "-") {
      return not_lowered("its --container-spec " + cdi::quoted(flag.value) +
                         " may refer to another container");
    }
  }
  if (!has_gpu) return not_lowered("the option --gpu-id is missing");
  for (const auto name : memory_limit_variables) {
    const auto is_set = container.has_variable(name);
    if (!is_set) return not_lowered("the environment of the container is unknown");
    if (*is_set) return not_lowered("it reads the variable " + std::string{name});
  }
  return {};
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

inline Result<void> lower_flags(HookClass id, std::span<const HookFlag> flags,
                                const SortedOutline& container, LoweredHook& out) {
  switch (id) {
    case HookClass::symlinks: return lower_symlinks(flags, container, out);
    case HookClass::ldcache: return lower_ldcache(flags, container, out);
    case HookClass::cuda_compat: return lower_cuda_compat(flags, container, out);
    case HookClass::chmod: return lower_chmod(flags, container, out);
    case HookClass::profile: return lower_profile(container, out);
    case HookClass::memory_limits: return lower_memory_limits(flags, container);
    case HookClass::proc_mask: out.changes.masked_params = true; break;
    case HookClass::legacy:
    case HookClass::foreign: break;
  }
  return {};
}

}  // namespace detail

CDI_INLINE Result<LoweredHook> lower_hook(const HookCommand& command, oci::HookPoint point,
                                          const SortedOutline& container) {
  const auto id = classify_hook(command);
  if (id == HookClass::legacy || id == HookClass::foreign) {
    return detail::not_lowered("it " +
                               std::string{hook_classes[static_cast<std::size_t>(id)].meaning});
  }
  if (point > oci::HookPoint::create_container) {
    return detail::not_lowered("it runs at " + std::string{oci::hook_point_name(point)} +
                               ", after the container is created");
  }
  const auto flags = detail::hook_flags(detail::hook_arguments(command), detail::flags_of(id));
  if (!flags) return flags.error();
  LoweredHook out;
  if (auto done = detail::lower_flags(id, *flags, container, out); !done) return done.error();
  return out;
}

CDI_INLINE LoweredHook merge(std::span<const LoweredHook> hooks) {
  LoweredHook all;
  for (const auto& one : hooks) {
    detail::append(all.changes, one.changes);
    detail::append(all.node_links, one.node_links);
    all.needs_ldconfig = all.needs_ldconfig || one.needs_ldconfig;
    if (all.ldconfig.empty()) all.ldconfig = one.ldconfig;
  }
  detail::remove_repeated(all.changes);
  detail::keep_last_of_path(all.node_links);
  return all;
}

CDI_INLINE std::optional<std::string> masked_params(std::string_view params) {
  constexpr std::string_view line = "ModifyDeviceFiles: 1\n";
  std::string text{params};
  if (!text.empty() && text.back() != '\n') text.append("\n");
  for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; ++at) {
    if (at != 0 && text[at - 1] != '\n') continue;
    text[at + line.size() - 2] = '0';
    return text;
  }
  return std::nullopt;
}

CDI_INLINE Mount params_mount(std::string_view host_path) {
  Mount mount;
  mount.host_path = host_path;
  mount.container_path = params_path;
  mount.options = {"bind", "ro", "nosuid", "nodev", "noexec"};
  mount.type = "bind";
  return mount;
}

}  // namespace cdi

#endif  // CDI_NVIDIA_HOOK_LOWERING_INL
