// `HostOptions`: hooks without an environment, pinned device numbers, and links on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_HOST_OPTIONS_HPP
#define CDI_APPLY_HOST_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/apply/joined_edits.hpp>
#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What happens if the host's device node differs in type or number from the edits. Numbers
/// assigned during boot may differ after the next boot.
enum class HostDrift : std::uint8_t {
  keep,    ///< the edits win, as in the Go reference; nothing is compared
  follow,  ///< the host wins
  fail,    ///< fails with `Errc::host`
};

/// An environment for hooks that have none, in which they can find other programs that they run.
inline constexpr std::string_view explicit_hook_path =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How an injection treats the host. The default matches the Go reference.
struct HostOptions {
  /// The environment for hooks that have none, such as `explicit_hook_path`. Otherwise, runc before
  /// 1.3 gives a `createContainer` hook, which runs with the rights of the runtime, the container's
  /// environment: CVE-2025-23266. If empty, such hooks are left without an environment.
  std::vector<std::string> hook_env{};
  HostDrift drift = HostDrift::keep;  ///< for device nodes; a node missing on the host is not drift
  /// Whether links in the host paths of mounts and device nodes are replaced by their targets. A
  /// path that does not exist stays as it is.
  bool resolve_links = false;
  /// The host's root directory as this process sees it; empty for its own. Links and device nodes
  /// are looked up inside this directory, which is not added to paths in the OCI spec.
  std::string root{};
};

namespace detail {

/// Returns where a file of the host is below `root`. Links in the directories above the file stay
/// inside the root; a final link is not followed. Fails with `Errc::host` like
/// `resolve_host_links`.
Result<std::string> path_below(std::string_view root, std::string_view path);

}  // namespace detail

/// A host with options, for functions that take a host: `cache.inject(spec, names, host)`.
template <HostLookup Host = SystemHost>
struct HostWithOptions {
  HostOptions options{};  ///< how an injection treats the host
  Host host{};            ///< provides the device nodes

  /// Returns the device node at a path under `HostOptions::root`.
  Result<HostNode> operator()(std::string_view path) const {
    if (options.root.empty()) return host(path);
    const auto place = detail::path_below(options.root, path);
    return place ? host(*place) : place.error();
  }
};

/// Returns where a host path leads if a process with the root directory `root` follows its links;
/// the result does not include `root`. A path that is relative or does not exist is returned
/// unchanged. Fails with `Errc::host` if a link cannot be read, and after 40 links. The result may
/// already be stale.
Result<std::string> resolve_host_links(std::string_view path, std::string_view root = {});

namespace detail {

/// Returns how the host differs from a device node that has a type or number, with the member in
/// `where`; nothing if they agree or the host lacks the node. Stores the host's node in `found`.
std::optional<Error> drift_of(const NodeView& node, const HostRef& host, HostNode& found);

/// Changes joined edits as the options specify. Returns the new texts, to which the edits refer.
Result<std::deque<std::string>> use_options(JoinedEdits& edits, const HostRef& host,
                                            const HostOptions& options);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/apply/host_options.inl>
#endif

#endif  // CDI_APPLY_HOST_OPTIONS_HPP
