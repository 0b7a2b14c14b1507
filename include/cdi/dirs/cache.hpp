// `Cache`: the devices of spec directories, up to date at each call.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_CACHE_HPP
#define CDI_DIRS_CACHE_HPP

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/wait_options.hpp>  // IWYU pragma: export
#include <cdi/engine/apply.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The directories that runtimes read: `/etc/cdi`, and `/var/run/cdi` with the higher priority.
std::vector<std::string> default_spec_dirs();

/// How a `Cache` learns that directories or files have changed.
enum class Freshness : std::uint8_t {
  /// Looks at each call: one `stat` for each directory and file, no thread, no descriptor.
  checked,
  /// Asks inotify at each call, and looks as above when it tells of something, and once a second,
  /// for what it cannot tell (see `Watcher`); when it cannot be had, as `checked`. Holds one
  /// descriptor.
  watched,
  /// As `watched`, and a thread of its own does so too, so that `snapshot()` is fresh without a
  /// look. Holds two descriptors.
  background,
  /// Looks only at the first call, and at `refresh()` and `wait_for()`.
  manual,
};

/// How a `Cache` reads its files, and when it looks at them.
struct CacheOptions {
  ReadOptions read{};                        ///< for every file
  Freshness freshness = Freshness::checked;  ///< how changes are noticed
};

/// Spec directories as a registry that is fresh at each call, and reads again only what changed.
///
/// Any number of threads may use a cache, and none waits for another: whoever finds a change reads
/// what changed, and publishes a new registry whole. Whoever holds a registry keeps it.
class Cache {
 public:
  /// Directories from the lowest priority to the highest; those that are missing may come later.
  /// Nothing is read before it is asked for, unless `background`. Relative paths start where the
  /// process is at each look. When inotify or the thread cannot be had, `watch_error` has the
  /// reason.
  explicit Cache(std::vector<std::string> dirs = default_spec_dirs(),
                 const CacheOptions& options = {});
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  /// Ends the thread of `Freshness::background`, and waits for the look it is at. Registries that
  /// others hold stay.
  ~Cache();

  /// The devices as they are now; with `Freshness::manual`, as they were at the last look. Never
  /// null; the same object while nothing changes. Errors of files are in the registry. Waits up to
  /// `ReadOptions::patience` for a file that has just been changed and is not valid.
  std::shared_ptr<const Registry> registry();

  /// The devices as they were found last; never null. Does not wait and does not ask the system,
  /// but for the first call, which looks; and each call, when `background` could have no thread.
  std::shared_ptr<const Registry> snapshot();

  /// Looks at all directories and files, whatever the freshness, and reads again what changed. Of
  /// several at a time, what the one found that began last is kept for `snapshot()`.
  std::shared_ptr<const Registry> refresh();

  /// Waits until all names can be resolved, and gives the registry that can. Fails when the
  /// deadline is over, with `Errc::timeout`, and at once for what is no qualified name, and as
  /// `options` say, with the code of the first name not resolved. The error has the reasons;
  /// `snapshot()->unresolved(names)` has them typed. Looks at least once, whatever the deadline.
  /// Woken by inotify, and looks once a second for what that cannot tell; where it cannot be had,
  /// ten times a second. A file that is being written is waited for. Holds a descriptor meanwhile.
  template <class Names>
  Result<std::shared_ptr<const Registry>> wait_for(const Names& names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options = {}) {
    return wait_for_all(detail::AnyNames{names}, deadline, options);
  }
  /// The same for names in braces.
  Result<std::shared_ptr<const Registry>> wait_for(std::initializer_list<std::string_view> names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options = {}) {
    return wait_for_all(detail::AnyNames{names}, deadline, options);
  }

  /// Injects devices into an OCI spec, as `registry()` has them, all or none: see
  /// `Registry::inject`. Two calls may see different registries; to look first and inject then,
  /// hold one.
  template <Editable OciSpec, class Names, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, const Names& names, const Host& host = {}) {
    return registry()->inject(target, names, host);
  }
  /// The same for names in braces.
  template <Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, std::initializer_list<std::string_view> names,
                      const Host& host = {}) {
    return registry()->inject(target, names, host);
  }

  /// With `Freshness::watched`, readable (`poll`, `epoll`) when a call of `registry()` may find
  /// something new; call that, and never read from it. For what inotify cannot tell (see `Watcher`;
  /// files behind links foremost), call it once a second, too. -1 otherwise, and when inotify
  /// cannot be had. Closed with the cache.
  int descriptor() const;

  /// Why inotify, or the thread of `Freshness::background`, cannot be had, when it was asked for;
  /// else nothing. Without inotify each look compares signatures, that of the thread once a second.
  /// Set when the cache is made, and never changed.
  const std::optional<Error>& watch_error() const;

 private:
  class State;

  Result<std::shared_ptr<const Registry>> wait_for_all(
      detail::AnyNames names, std::chrono::steady_clock::time_point deadline,
      const WaitOptions& options);

  const std::unique_ptr<State> state_;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/cache.hpp>
#endif

#endif  // CDI_DIRS_CACHE_HPP
