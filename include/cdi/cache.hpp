// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CACHE_HPP
#define CDI_CACHE_HPP

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/apply.hpp>
#include <cdi/descriptor.hpp>
#include <cdi/file.hpp>
#include <cdi/host.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/scan.hpp>
#include <cdi/unresolved.hpp>
#include <cdi/version.hpp>
#include <cdi/watch.hpp>

namespace cdi::inline CDI_ABI {

/// The directories that runtimes read: `/etc/cdi`, and `/var/run/cdi` with the higher priority.
inline std::vector<std::string> default_spec_dirs() {
  return {"/etc/cdi", "/var/run/cdi"};
}

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
  kept_up,
  /// Looks only at the first call, and at `refresh()` and `wait_for()`.
  manual,
};

/// How a `Cache` reads its files, and when it looks at them.
struct CacheOptions {
  ReadOptions read{};                        ///< for every file
  Freshness freshness = Freshness::checked;  ///< how changes are noticed
};

/// How `Cache::wait_for` waits.
struct WaitOptions {
  /// Fails at once when the kind of a device is there, and the device is not: no file that could
  /// define it is unreadable, or was changed during the last `quiet`. Turn it off where a spec is
  /// written several times, each time with more devices.
  bool fail_on_unknown_device = true;
  /// How long no file that could define the device may have changed, for that to be final.
  std::chrono::milliseconds quiet{1000};
};

namespace detail {

/// A mutex of the system: <mutex> and <thread> are dear to include.
class Mutex {
 public:
  Mutex() { ::pthread_mutex_init(&mutex_, nullptr); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() { ::pthread_mutex_destroy(&mutex_); }

  void lock() { ::pthread_mutex_lock(&mutex_); }
  void unlock() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

/// Locks a mutex as long as it lives.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_{mutex} { mutex_.lock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace detail

/// Spec directories as a registry that is fresh at each call, and reads again only what changed.
///
/// Any number of threads may use a cache, and none waits for another: whoever finds a change reads
/// what changed, and publishes a new registry whole. Whoever holds a registry keeps it.
class Cache {
 public:
  /// Directories from the lowest priority to the highest; those that are missing may come later.
  /// Nothing is read before it is asked for, unless `kept_up`. Relative paths start where the
  /// process is at each look. When inotify or the thread cannot be had, `watch_error` has the
  /// reason.
  explicit Cache(std::vector<std::string> dirs = default_spec_dirs(),
                 const CacheOptions& options = {})
      : paths_{std::move(dirs)}, options_{options} {
    if (is_watching()) open_watcher();
    if (options_.freshness == Freshness::kept_up) start_thread();
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  /// Ends the thread of `Freshness::kept_up`, and waits for the look it is at. Registries that
  /// others hold stay.
  ~Cache() { stop_thread(); }

  /// The devices as they are now; with `Freshness::manual`, as they were at the last look. Never
  /// null; the same object while nothing changes. Errors of files are in the registry. Waits up to
  /// `ReadOptions::patience` for a file that has just been changed and is not valid.
  std::shared_ptr<const Registry> registry() {
    const auto last = published();
    if (last && options_.freshness == Freshness::manual) return last->registry;
    return look()->registry;
  }

  /// The devices as they were found last; never null. Does not wait and does not ask the system,
  /// but for the first call, which looks; and each call, when `kept_up` could have no thread.
  std::shared_ptr<const Registry> snapshot() {
    const auto last = published();
    const bool alone = options_.freshness == Freshness::kept_up && !has_thread_;
    return last && !alone ? last->registry : look()->registry;
  }

  /// Looks at all directories and files, whatever the freshness, and reads again what changed. Of
  /// several at a time, what the one found that began last is kept for `snapshot()`.
  std::shared_ptr<const Registry> refresh() { return scan(detail::LookAt::everything)->registry; }

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
    constexpr std::chrono::milliseconds pause{10};  // at least, however often files change
    ReadOptions read = options_.read;
    read.patience = {};  // whoever writes a file wakes us again
    auto watcher = Watcher::open(paths_);
    auto found = published();
    for (;;) {
      const auto began = std::chrono::steady_clock::now();
      const auto turn = begin_scan(detail::LookAt::everything);
      found = detail::Scanner{read}.scan(paths_, found, detail::LookAt::everything);
      const auto missing = found->registry->unresolved(names, 0);
      const bool late = std::chrono::steady_clock::now() >= deadline;
      if (missing.empty() || late || is_hopeless(*found, missing, options)) {
        publish(found, turn);
        if (missing.empty()) return found->registry;
        return failure(*found->registry, names, late);
      }
      const auto now = std::chrono::steady_clock::now();
      const auto until = [&](std::chrono::steady_clock::time_point next) {
        return next < deadline ? next : deadline;
      };
      if (!watcher) {
        detail::sleep_for(until(now + std::chrono::milliseconds{100}) - now);
      } else if (watcher->wait_until(until(now + std::chrono::seconds{1}))) {
        detail::sleep_for(until(began + pause) - std::chrono::steady_clock::now());
      }
    }
  }
  /// The same for names in braces.
  Result<std::shared_ptr<const Registry>> wait_for(std::initializer_list<std::string_view> names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options = {}) {
    return wait_for(std::span<const std::string_view>{names.begin(), names.size()}, deadline,
                    options);
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
  int descriptor() const {
    return watcher_ && options_.freshness == Freshness::watched ? watcher_->descriptor() : -1;
  }

  /// Why inotify, or the thread of `Freshness::kept_up`, cannot be had, when it was asked for; else
  /// nothing. Without inotify each look compares signatures, that of the thread once a second. Set
  /// when the cache is made, and never changed.
  const std::optional<Error>& watch_error() const { return watch_error_; }

 private:
  bool is_watching() const {
    return options_.freshness == Freshness::watched || options_.freshness == Freshness::kept_up;
  }

  void open_watcher() {
    auto watcher = Watcher::open(paths_);
    if (watcher) {
      watcher_.emplace(std::move(*watcher));
    } else {
      watch_error_.emplace(std::move(watcher).error());
    }
  }

  std::shared_ptr<const detail::Scan> published() const {
    const detail::Lock lock{mutex_};
    return last_;
  }

  /// A scan's place among all, and how much of what inotify told it covers.
  struct Turn {
    std::uint64_t ticket = 0;
    std::uint64_t covers = 0;
    std::shared_ptr<const detail::Scan> before{};
  };

  Turn begin_scan(detail::LookAt what) {
    const detail::Lock lock{mutex_};
    if (what == detail::LookAt::everything) looked_ = std::chrono::steady_clock::now();
    return {++started_, what == detail::LookAt::everything ? told_ : covered_, last_};
  }

  void publish(std::shared_ptr<const detail::Scan> scan, const Turn& turn) {
    const bool elsewhere = watcher_ && turn.before && leads_elsewhere(*turn.before, *scan);
    {
      const detail::Lock lock{mutex_};
      const bool newest =
          turn.covers > covered_ || (turn.covers == covered_ && turn.ticket >= published_);
      if (newest) {
        covered_ = turn.covers;
        published_ = turn.ticket;
        last_.swap(scan);  // the old one goes after the lock does: the parameter outlives it
      }
    }
    if (elsewhere) renew_watcher();
  }

  std::shared_ptr<const detail::Scan> scan(detail::LookAt what) {
    const auto turn = begin_scan(what);
    auto now = detail::Scanner{options_.read}.scan(paths_, turn.before, what);
    publish(now, turn);
    return now;
  }

  /// Looks at what may have changed.
  std::shared_ptr<const detail::Scan> look() {
    constexpr std::chrono::seconds longest{1};
    auto what = detail::LookAt::everything;
    if (watcher_) {
      const detail::Lock watch_lock{watch_mutex_};
      const bool changed = watcher_->take();
      const detail::Lock lock{mutex_};
      if (changed) ++told_;
      const bool recent = std::chrono::steady_clock::now() < looked_ + longest;
      if (told_ == covered_ && recent) what = detail::LookAt::what_is_not_watched;
    }
    return scan(what);
  }

  /// Whether a path of a directory leads to another one now, of which inotify need not have told.
  static bool leads_elsewhere(const detail::Scan& before, const detail::Scan& now) {
    for (std::size_t i = 0; i < now.dirs.size(); ++i) {
      const Signature& a = before.dirs[i]->signature;
      const Signature& b = now.dirs[i]->signature;
      if (a.device != b.device || a.inode != b.inode) return true;
    }
    return false;
  }

  void renew_watcher() {
    const detail::Lock watch_lock{watch_mutex_};
    watcher_->renew();
    const detail::Lock lock{mutex_};
    ++told_;  // what changed before the new watches is looked at by the next
  }

  template <class Names>
  static Error failure(const Registry& registry, const Names& names, bool late) {
    auto all = registry.require(names);
    Error error = std::move(all).error();
    if (late) {
      error.code = Errc::timeout;
      error.message.insert(0, "the deadline is over: ");
    }
    return error;
  }

  static bool is_hopeless(const detail::Scan& scan, const std::vector<Unresolved>& missing,
                          const WaitOptions& options) {
    for (const auto& one : missing) {
      if (one.reason == Reason::invalid_name) return true;
      const bool unknown = one.reason == Reason::unknown_device && one.causes.empty();
      if (options.fail_on_unknown_device && unknown && !may_grow(scan, one.name, options.quiet)) {
        return true;
      }
    }
    return false;
  }

  /// Whether a file that may define a device was changed a moment ago: somebody may be writing it.
  static bool may_grow(const detail::Scan& scan, std::string_view name,
                       std::chrono::milliseconds quiet) {
    const auto now = file_clock();
    const auto kind = name.substr(0, name.find('='));
    const auto may_hold = [&](const detail::FileState& file) {
      return file.spec ? file.spec->spec.kind == kind
                       : file.rejected->kind == kind || file.rejected->kind.empty();
    };
    for (const auto& dir : scan.dirs) {
      for (const auto& file : dir->files) {
        const bool young = age_of(file->file.signature, now) < quiet.count();
        if (young && may_hold(file->file)) return true;
      }
    }
    return false;
  }

  void start_thread() {
    stop_ = Descriptor{::eventfd(0, EFD_CLOEXEC)};
    int failed = stop_ ? 0 : errno;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread takes no signals of the program
    if (stop_) failed = ::pthread_create(&thread_, nullptr, &Cache::keep_up_of, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    has_thread_ = failed == 0;
    if (failed != 0 && !watch_error_) {
      watch_error_.emplace(detail::system_error(Errc::system, "no thread can be had", failed));
    }
  }

  static void* keep_up_of(void* cache) {
    static_cast<Cache*>(cache)->keep_up();
    return nullptr;
  }

  void keep_up() {
    constexpr int most = 1000;  // milliseconds: to see what inotify does not tell
    pollfd events[] = {
        {.fd = stop_.get(), .events = POLLIN, .revents = 0},
        {.fd = watcher_ ? watcher_->descriptor() : -1, .events = POLLIN, .revents = 0}};
    do {
      look();
      ::poll(events, std::size(events), most);
    } while (events[0].revents == 0);
  }

  void stop_thread() {
    if (!has_thread_) return;
    constexpr std::uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
    ::pthread_join(thread_, nullptr);
  }

  const std::vector<std::string> paths_;
  const CacheOptions options_;
  mutable detail::Mutex mutex_{};  // of what follows; held for moments only
  std::shared_ptr<const detail::Scan> last_{};
  std::chrono::steady_clock::time_point looked_{};  // when somebody looked at everything
  std::uint64_t started_ = 0;                       // scans
  std::uint64_t published_ = 0;                     // the scan that `last_` is
  std::uint64_t told_ = 0;                          // how often inotify told of something
  std::uint64_t covered_ = 0;                       // how much of it is in `last_`
  detail::Mutex watch_mutex_{};                     // of the watcher; taken before the other
  std::optional<Watcher> watcher_{};
  std::optional<Error> watch_error_{};
  Descriptor stop_{-1};
  pthread_t thread_{};
  bool has_thread_ = false;
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_CACHE_HPP
