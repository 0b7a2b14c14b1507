// Hooks that run programs of the host, for what must happen after the mounts of a container.
// SPDX-License-Identifier: Apache-2.0

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

/// The file beside a config that is mounted over `cdi::params_path`.
inline constexpr std::string_view params_name = "nvidia-params";

/// The directory of a config file, absolute and without links; empty when it cannot be read, and
/// for standard input: `-`.
inline std::string folder_of_config(const std::string& config) {
  char found[PATH_MAX];
  if (config == "-" || ::realpath(config.c_str(), found) == nullptr) return {};
  const std::string_view file{found};
  return std::string{file.substr(0, file.rfind('/'))};
}

/// Where the bundle of a container is, for hooks that need its root or files. Empty when unknown.
struct BundlePaths {
  std::string folder{};  // absolute
  std::string root{};    // absolute

  /// Of a config that was read from a file, or from standard input: `-`.
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

/// The first of some programs that can be run; empty when there is none.
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
      "the root of the container is not known: the config has no root.path, or is from standard "
      "input and has a relative one");
}

/// A config is JSON, which holds no other bytes.
inline cdi::Result<void> check_utf8(const std::string& path) {
  if (cdi::detail::is_utf8(path)) return {};
  return unsupported("the path " + cdi::quoted(path) +
                     " of the bundle is not UTF-8, and a config cannot hold it: rename it");
}

/// The most seconds that a hook runs: an image can make ldconfig wait for ever, by a FIFO.
inline constexpr int hook_seconds = 60;

inline cdi::oci::Hook host_hook(std::string program, std::vector<std::string> args) {
  // Without `env`, runc would give the hook the variables of the container.
  cdi::oci::Hook hook{.path = std::move(program), .args = std::move(args)};
  hook.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  hook.timeout = hook_seconds;
  return hook;
}

/// Runs the ldconfig `$1` in the root `$2`, without the process file systems of the container.
///
/// The image decides what its links are, and /proc/1/root leads out of a chroot: with a link of
/// /etc to it, ldconfig would write on the host. mountinfo shows a space as `\040`; %b of printf
/// takes four digits, and would take a digit behind it, too.
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

/// The hooks that `cdi` adds to a config, for what must happen after the mounts.
class HostHooks {
 public:
  HostHooks(BundlePaths bundle, const cdi::oci::Spec& spec)
      : bundle_{std::move(bundle)}, params_{find_params(spec)} {}

  /// Writes the linker's cache of the container with the ldconfig of this name, or, if it is empty,
  /// with the usual one. Fails where that cannot work.
  cdi::Result<cdi::oci::Hook> ldconfig(const std::string& named) const;

  /// Makes the mount of `cdi::params_mount`, which runc refuses in a config. Fails where that
  /// cannot work.
  const cdi::Result<cdi::oci::Hook>& params() const { return params_; }

  /// Whether a hook writes the cache, like that of `ldconfig`, with any program of that name.
  bool is_ldconfig(const cdi::oci::Hook& hook) const {
    if (hook.args.size() <= program_argument) return false;
    const auto& program = hook.args[program_argument];
    if (!program.ends_with("/ldconfig") && !program.ends_with("/ldconfig.real")) return false;
    const auto own = run_ldconfig(program);
    return own && is_same(*own, hook);
  }
  /// Whether a hook is that of `params`.
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
  // The ldconfig of Ubuntu is a script around ldconfig.real.
  const auto program =
      named.empty()
          ? detail::find_program({"/sbin/ldconfig.real", "/sbin/ldconfig", "/usr/sbin/ldconfig"})
      : named.ends_with(".real") ? detail::find_program({named})
                                 : detail::find_program({named + ".real", named});
  if (program.empty()) return detail::unsupported("this host does not have ldconfig");
  return run_ldconfig(program);
}

inline cdi::Result<cdi::oci::Hook> HostHooks::run_ldconfig(const std::string& program) const {
  if (bundle_.root.empty()) return detail::no_root();
  if (const auto valid = detail::check_utf8(bundle_.root); !valid) return valid.error();
  const auto unshare = detail::find_program({"/usr/bin/unshare", "/bin/unshare"});
  if (unshare.empty()) return detail::unsupported("this host does not have unshare");
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
    return detail::unsupported("it needs a file beside the config, which is from standard input");
  }
  if (bundle_.root.empty()) return detail::no_root();
  for (const auto& path : {bundle_.folder, bundle_.root}) {
    if (const auto valid = detail::check_utf8(path); !valid) return valid.error();
  }
  if (!has_proc) return detail::unsupported("the container has no /proc");
  const auto program = detail::find_program({"/usr/bin/mount", "/bin/mount"});
  if (program.empty()) return detail::unsupported("this host does not have mount");
  const auto mount = cdi::params_mount(fmt::format("{}/{}", bundle_.folder, params_name));
  return detail::host_hook(
      program, {"mount", "-o", fmt::format("{}", fmt::join(mount.options, ",")), mount.host_path,
                bundle_.root + mount.container_path});
}

#endif  // CDI_TOOLS_CDI_HOOKS_HOST_HOOKS_HPP
