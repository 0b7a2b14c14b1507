// The bodies of <cdi/dirs/cache.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_CACHE_HPP
#define CDI_DIRS_IMPL_CACHE_HPP

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/dirs/watch.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::vector<std::string> default_spec_dirs() {
  return {"/etc/cdi", "/var/run/cdi"};
}

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

/// Whether a path of a directory leads to another one now, of which inotify need not have told.
inline bool leads_elsewhere(const Scan& before, const Scan& now) {
  for (std::size_t i = 0; i < now.dirs.size(); ++i) {
    const Signature& a = before.dirs[i]->signature;
    const Signature& b = now.dirs[i]->signature;
    if (a.device != b.device || a.inode != b.inode) return true;
  }
  return false;
}

inline Error failure(const Registry& registry, AnyNames names, bool late) {
  auto all = registry.require(names);
  Error error = std::move(all).error();
  if (late) {
    error.code = Errc::timeout;
    error.message.insert(0, "the deadline is over: ");
  }
  return error;
}

/// Whether a file that may define a device changed a moment ago: a program may still write it.
inline bool may_grow(const Scan& scan, std::string_view name, std::chrono::milliseconds quiet) {
  const auto now = file_clock();
  const auto kind = name.substr(0, name.find('='));
  const auto may_hold = [&](const FileState& file) {
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

inline bool is_hopeless(const Scan& scan, const std::vector<Unresolved>& missing,
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

}  // namespace detail

/// What a cache knows, and how it looks.
class Cache::State {
 public:
  State(std::vector<std::string> dirs, const CacheOptions& options)
      : paths_{std::move(dirs)}, options_{options} {
    if (is_watching()) open_watcher();
    if (options_.freshness == Freshness::kept_up) start_thread();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { stop_thread(); }

  std::shared_ptr<const Registry> registry() {
    const auto last = published();
    if (last && options_.freshness == Freshness::manual) return last->registry;
    return look()->registry;
  }

  std::shared_ptr<const Registry> snapshot() {
    const auto last = published();
    const bool alone = options_.freshness == Freshness::kept_up && !has_thread_;
    return last && !alone ? last->registry : look()->registry;
  }

  std::shared_ptr<const Registry> refresh() { return scan(detail::LookAt::everything)->registry; }

  Result<std::shared_ptr<const Registry>> wait_for(detail::AnyNames names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options) {
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
      if (missing.empty() || late || detail::is_hopeless(*found, missing, options)) {
        publish(found, turn);
        if (missing.empty()) return found->registry;
        return detail::failure(*found->registry, names, late);
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

  int descriptor() const {
    return watcher_ && options_.freshness == Freshness::watched ? watcher_->descriptor() : -1;
  }

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
    const bool elsewhere = watcher_ && turn.before && detail::leads_elsewhere(*turn.before, *scan);
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

  void renew_watcher() {
    const detail::Lock watch_lock{watch_mutex_};
    watcher_->renew();
    const detail::Lock lock{mutex_};
    ++told_;  // what changed before the new watches is looked at by the next
  }

  void start_thread() {
    stop_ = Descriptor{::eventfd(0, EFD_CLOEXEC)};
    int failed = stop_ ? 0 : errno;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread takes no signals of the program
    if (stop_) failed = ::pthread_create(&thread_, nullptr, &State::keep_up_of, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    has_thread_ = failed == 0;
    if (failed != 0 && !watch_error_) {
      watch_error_.emplace(detail::system_error(Errc::system, "no thread can be had", failed));
    }
  }

  static void* keep_up_of(void* state) {
    static_cast<State*>(state)->keep_up();
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
  std::chrono::steady_clock::time_point looked_{};  // when a look covered everything
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

CDI_INLINE Cache::Cache(std::vector<std::string> dirs, const CacheOptions& options)
    : state_{std::make_unique<State>(std::move(dirs), options)} {}
CDI_INLINE Cache::~Cache() = default;

CDI_INLINE std::shared_ptr<const Registry> Cache::registry() {
  return state_->registry();
}

CDI_INLINE std::shared_ptr<const Registry> Cache::snapshot() {
  return state_->snapshot();
}

CDI_INLINE std::shared_ptr<const Registry> Cache::refresh() {
  return state_->refresh();
}

CDI_INLINE Result<std::shared_ptr<const Registry>> Cache::wait_for_all(
    detail::AnyNames names, std::chrono::steady_clock::time_point deadline,
    const WaitOptions& options) {
  return state_->wait_for(names, deadline, options);
}

CDI_INLINE int Cache::descriptor() const {
  return state_->descriptor();
}

CDI_INLINE const std::optional<Error>& Cache::watch_error() const {
  return state_->watch_error();
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_CACHE_HPP
