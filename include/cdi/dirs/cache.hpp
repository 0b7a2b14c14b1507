// `Cache`: the devices of spec directories, up to date at each call.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_CACHE_HPP
#define CDI_DIRS_CACHE_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/scan.hpp>          // IWYU pragma: export
#include <cdi/dirs/wait_options.hpp>  // IWYU pragma: export
#include <cdi/engine/apply.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// How a `Cache` learns that directories or files have changed.
enum class Freshness : std::uint8_t {
  /// Each call checks each directory and file with one `stat`. No thread, no descriptor.
  checked,
  /// Each call reads inotify events. It checks the files as above after a change, and once a second
  /// for changes that inotify does not report (see `Watcher`); without inotify, as `checked`. Holds
  /// one descriptor.
  watched,
  /// As `watched`; a thread does the same in the background, so that `snapshot()` is up to date
  /// without a check. Holds two descriptors.
  background,
  /// Only the first call, `refresh()` and `wait_for()` check the files.
  manual,
};

/// How a `Cache` reads its files, and when it checks them.
struct CacheOptions {
  ReadOptions read{};                        ///< for every file
  Freshness freshness = Freshness::checked;  ///< how changes are noticed
};

/// Spec directories as a registry that is up to date at each call. Only files that changed are read
/// again.
///
/// Any number of threads may use a cache, and none waits for another: a thread that finds a change
/// reads what changed, and publishes a new registry. A registry stays valid for its holders.
class Cache {
 public:
  /// `dirs` are given from the lowest priority to the highest; a missing directory may be created
  /// later. Nothing is read until the first query, except with `Freshness::background`. Relative
  /// paths are resolved at every check. If inotify or the thread is not available, `watch_error`
  /// has the reason.
  explicit Cache(std::vector<std::string> dirs = default_spec_dirs(),
                 const CacheOptions& options = {});
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  /// Ends the thread of `Freshness::background`, and waits for its current check. Registries that
  /// are held elsewhere stay valid.
  ~Cache();

  /// The devices as they are now; with `Freshness::manual`, as they were at the last check. Never
  /// null; the same object while nothing changes. Errors of files are in the registry. Waits up to
  /// `ReadOptions::patience` for a file that has just been changed and is not valid.
  std::shared_ptr<const Registry> registry();

  /// The devices as they were at the last check; never null. Makes no system call and does not
  /// wait, except that the first call checks, and each call if `background` has no thread.
  std::shared_ptr<const Registry> snapshot();

  /// Checks all directories and files, whatever the freshness, and reads again what changed. Of
  /// several concurrent calls, the result of the one that began last is kept for `snapshot()`.
  std::shared_ptr<const Registry> refresh();

  /// Waits until all names are resolved, and returns the registry that resolves them. When the
  /// deadline passes: `Errc::timeout`. At once, with the code of the first name that is not
  /// resolved: for an invalid name, and as `options` say. The error has the reasons;
  /// `snapshot()->unresolved(names)` has them as values. Checks the files at least once, whatever
  /// the deadline, then after each inotify event and once a second; without inotify, ten times a
  /// second. Waits for a file that is being written. Holds a descriptor meanwhile.
  Result<std::shared_ptr<const Registry>> wait_for(Names names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options = {});

  /// Injects devices of `registry()` into an OCI spec, all or none: see `Registry::inject`. Two
  /// calls may use different registries; to query first and then inject, hold one.
  template <class OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, Names names, const Host& host = {},
                      const ApplyOptions& options = {}) {
    return registry()->inject(target, names, host, options);
  }

  /// With `Freshness::watched`, a descriptor that is readable (`poll`, `epoll`) when `registry()`
  /// may find a change; call that, and never read from the descriptor. Call it once a second, too,
  /// for changes that inotify does not report (see `Watcher`), above all of files behind links. -1
  /// with other values, and without inotify. Closed with the cache.
  int descriptor() const;

  /// Why inotify, or the thread of `Freshness::background`, is not available, if the options ask
  /// for it. Each check then compares signatures; that of the thread, once a second. Set when the
  /// cache is created, and never changed.
  const std::optional<Error>& watch_error() const;

 private:
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/cache.inl>
#endif

#endif  // CDI_DIRS_CACHE_HPP
