// Hooks that run programs of the host after a container's mounts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_HOOKS_HOST_HOOKS_HPP
#define CDI_TOOLS_CDI_HOOKS_HOST_HOOKS_HPP

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/result.hpp>

/// The file next to a config that is mounted over `cdi::params_path`.
inline constexpr std::string_view params_name = "nvidia-params";

/// The directory of a config file, absolute and without links; empty if it cannot be read, and for
/// standard input (`-`).
inline std::string folder_of_config(const std::string& config) {
  char found[PATH_MAX];
  if (config == "-" || ::realpath(config.c_str(), found) == nullptr) return {};
  const std::string_view file{found};
  return std::string{file.substr(0, file.rfind('/'))};
}

/// The location of a container's bundle, for hooks that need its root or files. Empty if unknown.
struct BundlePaths {
  std::string folder{};  // absolute
  std::string root{};    // absolute

  /// The bundle of a config that was read from a file, or from standard input (`-`).
  static BundlePaths of(const std::string& config, const cdi::oci::Spec& spec) {
    BundlePaths paths;
    paths.folder = folder_of_config(config);
    const std::string root{spec.root ? spec.root->path : std::string{}};
    if (root.starts_with('/')) {
      paths.root = cdi::clean_path(root);
    } else if (!root.empty() && !paths.folder.empty()) {
      paths.root = cdi::clean_path(paths.folder + "/" + root);
    }
    return paths;
  }
};

namespace detail {

/// The first program in the list that is executable; empty if there is none.
inline std::string find_program(std::initializer_list<std::string> candidates) {
  for (const auto& path : candidates) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

inline cdi::Error unsupported(std::string reason) {
  return {.code = cdi::Errc::unsupported, .message = std::move(reason)};
}
inline cdi::Error no_root() {
  return unsupported(
      "the root of the container is unknown: the config has no root.path, or is from standard "
      "input with a relative root.path");
}

/// A config is JSON, which must be UTF-8.
inline cdi::Result<void> check_utf8(const std::string& path) {
  if (cdi::detail::is_utf8(path)) return {};
  return unsupported("the bundle path " + cdi::quoted(path) +
                     " is not UTF-8, so a config cannot hold it: rename it");
}

/// The timeout of a hook in seconds: a FIFO in an image can make ldconfig wait forever.
inline constexpr int hook_seconds = 60;

inline cdi::oci::Hook host_hook(std::string program, std::vector<std::string> args) {
  // Without `env`, runc would pass the container's variables to the hook.
  cdi::oci::Hook hook{.path = std::move(program), .args = std::move(args)};
  hook.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  hook.timeout = hook_seconds;
  return hook;
}

/// Runs the ldconfig `$1` in the root `$2`, without the container's proc file systems.
///
/// The image controls its links, and /proc/1/root leads out of a chroot: if /etc were a link to it,
/// ldconfig would write on the host. mountinfo shows a space as `\040`; %b of printf takes four
/// digits, and would otherwise also take a digit that follows.
inline constexpr std::string_view ldconfig_script =
    R"sh(root=$(cd "$2" && pwd -P) && [ -r /proc/self/mountinfo ] || exit 1
procs() {
  grep -F ' - proc ' /proc/self/mountinfo | while read -r id parent device from at rest; do
    at=$(printf '%b' "$(printf '%s' "$at" | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g')")
    case $at in "$root"/*) printf '%s\n' "$at" ;; esac
  done
}
procs | while read -r at; do umount -l "$at"; done
[ -z "$(procs)" ] && exec "$1" -r "$root")sh";

}  // namespace detail

/// The hooks that `cdi` adds to a config, for work that must happen after the mounts.
class HostHooks {
 public:
  HostHooks(BundlePaths bundle, const cdi::oci::Spec& spec)
      : bundle_{std::move(bundle)}, params_{find_params(spec)} {}

  /// Adds a hook that writes the container's linker cache with this ldconfig, or with the usual
  /// ldconfig if the name is empty. Fails if the hook could not work.
  cdi::Result<cdi::oci::Hook> ldconfig(const std::string& named) const;

  /// Adds a hook that makes the mount of `cdi::params_mount`, which runc rejects in a config. Fails
  /// if the hook could not work.
  const cdi::Result<cdi::oci::Hook>& params() const { return params_; }

  /// Whether a hook writes the cache as the hook of `ldconfig` does, with any program of that name.
  bool is_ldconfig(const cdi::oci::Hook& hook) const {
    if (hook.args.size() <= program_argument) return false;
    const auto& program = hook.args[program_argument];
    if (!program.ends_with("/ldconfig") && !program.ends_with("/ldconfig.real")) return false;
    const auto own = run_ldconfig(program);
    return own && is_same(*own, hook);
  }
  /// Whether a hook is the hook of `params`.
  bool is_params(const cdi::oci::Hook& hook) const { return params_ && is_same(*params_, hook); }

 private:
  static constexpr std::size_t program_argument = 6;  // of `run_ldconfig`

  static bool is_same(const cdi::oci::Hook& a, const cdi::oci::Hook& b) {
    return a.path == b.path && a.args == b.args && a.env == b.env;
  }

  cdi::Result<cdi::oci::Hook> run_ldconfig(const std::string& program) const;
  cdi::Result<cdi::oci::Hook> find_params(const cdi::oci::Spec& spec) const;

  BundlePaths bundle_;
  cdi::Result<cdi::oci::Hook> params_;
};

inline cdi::Result<cdi::oci::Hook> HostHooks::ldconfig(const std::string& named) const {
  // On Ubuntu, ldconfig is a script that runs ldconfig.real.
  const auto program =
      named.empty()
          ? detail::find_program({"/sbin/ldconfig.real", "/sbin/ldconfig", "/usr/sbin/ldconfig"})
      : named.ends_with(".real") ? detail::find_program({named})
                                 : detail::find_program({named + ".real", named});
  if (program.empty()) return detail::unsupported("ldconfig is not installed on this host");
  return run_ldconfig(program);
}

inline cdi::Result<cdi::oci::Hook> HostHooks::run_ldconfig(const std::string& program) const {
  if (bundle_.root.empty()) return detail::no_root();
  if (const auto valid = detail::check_utf8(bundle_.root); !valid) return valid.error();
  const auto unshare = detail::find_program({"/usr/bin/unshare", "/bin/unshare"});
  if (unshare.empty()) return detail::unsupported("unshare is not installed on this host");
  return detail::host_hook(
      unshare, {"unshare", "-m", "sh", "-c", std::string{detail::ldconfig_script}, "sh", program,
                bundle_.root});
}

inline cdi::Result<cdi::oci::Hook> HostHooks::find_params(const cdi::oci::Spec& spec) const {
  bool has_proc = false;
  for (const auto& mount : spec.mounts) {
    has_proc = has_proc || (mount.destination == "/proc" && mount.type == "proc");
  }
  if (bundle_.folder.empty()) {
    return detail::unsupported(
        "it needs a file next to the config, but the config is from standard input");
  }
  if (bundle_.root.empty()) return detail::no_root();
  for (const auto& path : {bundle_.folder, bundle_.root}) {
    if (const auto valid = detail::check_utf8(path); !valid) return valid.error();
  }
  if (!has_proc) return detail::unsupported("the container has no /proc");
  const auto program = detail::find_program({"/usr/bin/mount", "/bin/mount"});
  if (program.empty()) return detail::unsupported("mount is not installed on this host");
  const auto mount = cdi::params_mount(fmt::format("{}/{}", bundle_.folder, params_name));
  return detail::host_hook(
      program, {"mount", "-o", fmt::format("{}", fmt::join(mount.options, ",")), mount.host_path,
                bundle_.root + mount.container_path});
}

#endif  // CDI_TOOLS_CDI_HOOKS_HOST_HOOKS_HPP
