// `Cache`: the devices of spec directories, up to date at each call.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_CACHE_HPP
#define CDI_DIRS_CACHE_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/dirs/scan.hpp>  // IWYU pragma: export
#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// How a `Cache` learns that directories or files have changed.
enum class Freshness : std::uint8_t {
  /// Each call checks each directory and file with one `stat`. Holds no descriptor.
  checked,
  /// Each call reads inotify events. Files are checked with `stat` after a change, and once a
  /// second for changes that inotify does not report (see `Watcher`). Without inotify, works like
  /// `checked`. Holds one descriptor.
  watched,
  /// Only the first call, `refresh()` and `wait_for()` check the files.
  manual,
};

/// How a `Cache` reads its files, and when it checks them.
struct CacheOptions {
  ReadOptions read{};                        ///< applies to every file
  Freshness freshness = Freshness::checked;  ///< how changes are noticed
};

/// How `Cache::wait_for` waits.
struct WaitOptions {
  /// Fails at once if the kind of a device exists and the device does not, unless a file that may
  /// define it is unreadable or changed during the last `quiet_period`. Disable this for specs that
  /// are written several times, each time with more devices.
  bool fail_on_unknown_device = true;
  /// A device counts as missing if no file that may define it has changed for this long.
  std::chrono::milliseconds quiet_period{1000};
};

/// Provides spec directories as a registry that is up to date at each call. Only files that have
/// changed are read again.
///
/// Any number of threads may use a cache, and none waits for another: a thread that finds a change
/// reads the changed files and publishes a new registry. A registry stays valid for its holders.
/// After `fork`, the new process must make its own cache. It may destroy this one.
class Cache {
 public:
  /// Makes a cache of `dirs`, listed from the lowest priority to the highest; a missing directory
  /// may be created later. Nothing is read until the first query. Relative paths are resolved at
  /// every check. If inotify is unavailable, `watch_error` says why.
  explicit Cache(std::vector<std::string> dirs = default_spec_dirs(),
                 const CacheOptions& options = {});
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  /// Registries that are held elsewhere stay valid.
  ~Cache();

  /// Returns the current devices; with `Freshness::manual`, the devices at the last check. Never
  /// null, and the same object while nothing changes. The registry contains the errors of files.
  /// Waits up to `ReadOptions::retry_window` for a file that has just changed and is invalid.
  std::shared_ptr<const Registry> registry();

  /// Returns the devices at the last check; never null. Makes no system call and does not wait,
  /// except that the first call checks the files.
  std::shared_ptr<const Registry> snapshot();

  /// Checks all directories and files, whatever the freshness, and reads changes. `snapshot()`
  /// keeps the result of the concurrent call that began last.
  std::shared_ptr<const Registry> refresh();

  /// Waits until all names resolve, and returns the registry that resolves them. Fails with
  /// `Errc::timeout` after the deadline. Fails at once, with the code of the first unresolved name,
  /// for an invalid name or as `options` require. The error contains the reasons;
  /// `snapshot()->unresolved(names)` returns them as values. Checks the files at least once,
  /// whatever the deadline, then after each inotify event and once a second; without inotify, ten
  /// times a second. Also waits for files that are being written. Holds a descriptor while waiting.
  Result<std::shared_ptr<const Registry>> wait_for(Names names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options = {});

  /// Injects devices of `registry()` into an OCI spec, all or none: see `Registry::inject`. Two
  /// calls may use different registries; to query first and then inject, keep one registry.
  template <class OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, Names names, const Host& host = {},
                      const ApplyOptions& options = {}) {
    return registry()->inject(target, names, host, options);
  }

  /// Returns, with `Freshness::watched`, a descriptor that becomes readable (`poll`, `epoll`) when
  /// `registry()` may find a change; call that function, and never read from the descriptor. Call
  /// it once a second, too, for changes that inotify does not report (see `Watcher`), mainly of
  /// linked files. Returns -1 otherwise or without inotify. The cache closes the descriptor.
  int descriptor() const;

  /// Returns why inotify is unavailable, if the options request it. Each check then compares
  /// signatures. Set when the cache is created, and never changed.
  const std::optional<Error>& watch_error() const;

 private:
  class Impl;

  const std::unique_ptr<Impl> impl_;
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/cache.inl>
#endif

#endif  // CDI_DIRS_CACHE_HPP
