// `HostOptions`: hooks without an environment, pinned device numbers, and links of the host.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_HOST_OPTIONS_HPP
#define CDI_ENGINE_HOST_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/joined_edits.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What happens when the edits have the type or number of a device node, and the host has other
/// ones at that path. Numbers that are given at boot may differ after the next one.
enum class HostDrift : std::uint8_t {
  keep,    ///< the edits count, like in the Go reference; the host is not asked
  follow,  ///< the host counts
  fail,    ///< `Errc::host`
};

/// An environment for hooks that have none. Hooks are named by absolute path, but may run programs.
inline constexpr std::string_view explicit_hook_path =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What an injection does about the host. The default is what the Go reference does.
struct HostOptions {
  /// The environment of each hook that has none, such as `explicit_hook_path`. Without one, runc
  /// gives a `createContainer` hook, which runs with the rights of the runtime, the environment of
  /// the container: CVE-2025-23266. Empty: such hooks stay without one.
  std::vector<std::string> hook_env{};
  HostDrift drift = HostDrift::keep;  ///< of device nodes; a node that the host lacks is no drift
  /// Whether links in the host paths of mounts and device nodes are replaced by what they point to.
  /// A path that does not exist stays as it is.
  bool resolve_links = false;
  /// Where this process has the root directory of the host; empty for its own. Links are resolved
  /// inside of it, and device nodes are searched there. It is not added to paths in the OCI spec.
  std::string root{};
};

/// A host with options, for functions that take a host: `cache.inject(spec, names, host)`.
template <HostLookup Host = SystemHost>
struct HostWithOptions {
  HostOptions options{};  ///< what an injection does about the host
  Host host{};            ///< gives the device nodes

  /// The device node at a path below `HostOptions::root`.
  Result<HostNode> operator()(std::string_view path) const {
    if (options.root.empty()) return host(path);
    return host(options.root + (path.starts_with('/') ? "" : "/") + std::string{path});
  }
};

/// The path that a path of the host leads to when a process with the root directory `root` follows
/// its links; `root` is not part of it. A path that is not absolute, and one
/// that does not exist, stay as they are. `Errc::host` when a link cannot be read, and after 40
/// links. What it returns may be out of date at once.
Result<std::string> resolve_host_links(std::string_view path, std::string_view root = {});

namespace detail {

/// How the host differs from a device node that has a type or number; `where` is the member.
/// Nothing when it does not, and when the host has no such node. `found` gets its node.
std::optional<Error> drift_of(const NodeView& node, const AnyHost& host, HostNode& found);

/// Changes joined edits by options. Returns the texts that they then point to.
Result<std::deque<std::string>> use_options(JoinedEdits& edits, const AnyHost& host,
                                            const HostOptions& options);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/host_options.inl>
#endif

#endif  // CDI_ENGINE_HOST_OPTIONS_HPP
