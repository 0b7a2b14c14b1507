// The bodies of <cdi/dirs/cache.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_CACHE_INL
#define CDI_DIRS_CACHE_INL

#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

#include <cdi/base/mutex.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scan_ledger.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/dirs/thread.hpp>
#include <cdi/dirs/waiting.hpp>
#include <cdi/dirs/watch.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/unresolved.hpp>

namespace cdi::inline CDI_ABI {

/// The data of a cache, and its checks for changes.
class Cache::Impl {
 public:
  Impl(std::vector<std::string> dirs, const CacheOptions& options)
      : paths_{std::move(dirs)}, options_{options} {
    if (is_watching()) open_watcher();
    if (options_.freshness == Freshness::background) start_thread();
  }

  std::shared_ptr<const Registry> registry() {
    const auto last = ledger_.last();
    if (last && options_.freshness == Freshness::manual) return last->registry;
    return check()->registry;
  }

  std::shared_ptr<const Registry> snapshot() {
    const auto last = ledger_.last();
    const bool lacks_thread = options_.freshness == Freshness::background && !thread_.is_running();
    return last && !lacks_thread ? last->registry : check()->registry;
  }

  std::shared_ptr<const Registry> refresh() {
    take_polled_events();
    return scan(detail::ScanScope::everything)->registry;
  }

  Result<std::shared_ptr<const Registry>> wait_for(Names names,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const WaitOptions& options) {
    constexpr std::chrono::milliseconds pause{10};  // the minimum, however often files change
    ReadOptions read = options_.read;
    read.retry_window = {};  // a file still being written causes another round
    auto watcher = Watcher::open(paths_);
    auto found = ledger_.last();
    for (;;) {
      const auto began = std::chrono::steady_clock::now();
      take_polled_events();
      const auto ticket = ledger_.begin(detail::ScanScope::everything);
      found = detail::Scanner{read}.scan(paths_, found, detail::ScanScope::everything);
      const auto missing = found->registry->unresolved(names, 0);
      const bool in_vain = detail::cannot_succeed(*found, missing, options.fail_on_unknown_device,
                                                  options.quiet_period);
      const bool late = !in_vain && std::chrono::steady_clock::now() >= deadline;
      if (missing.empty() || in_vain || late) {
        finish(found, ticket);
        if (missing.empty()) return found->registry;
        return detail::why_not_resolved(*found->registry, names, late);
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
    return options_.freshness == Freshness::watched || options_.freshness == Freshness::background;
  }

  void open_watcher() {
    auto watcher = Watcher::open(paths_);
    if (watcher) {
      watcher_.emplace(std::move(*watcher));
    } else {
      watch_error_.emplace(std::move(watcher).error());
    }
  }

  void start_thread() {
    const auto work = [](void* state) {
      static_cast<Impl*>(state)->check_if_possible();
    };
    const int failed = thread_.start(work, this, watcher_ ? watcher_->descriptor() : -1);
    if (failed != 0 && !watch_error_) {
      watch_error_.emplace(detail::system_error(Errc::system, "cannot start a thread", failed));
    }
  }

  /// Takes the events of the watcher, whose descriptor is readable until then. Returns what they,
  /// and the time since the last scan, make necessary.
  detail::ScanScope note_events() {
    if (!watcher_) return detail::ScanScope::everything;
    const detail::Lock lock{watch_mutex_};
    if (watcher_->consume()) ledger_.report_change();
    return ledger_.needed_scope(std::chrono::seconds{1});
  }

  /// Takes the events of the descriptor that a caller polls, before a scan that covers them. Those
  /// of `background` are for its thread.
  void take_polled_events() {
    if (descriptor() >= 0) note_events();
  }

  /// Checks whatever may have changed.
  std::shared_ptr<const detail::Scan> check() { return scan(note_events()); }

  /// Checks whatever may have changed. Without memory, the next check makes up for it: an exception
  /// would end the process.
  void check_if_possible() {
#ifdef __cpp_exceptions
    try {
      check();
    } catch (const std::bad_alloc&) {
    }
#else
    check();
#endif
  }

  std::shared_ptr<const detail::Scan> scan(detail::ScanScope scope) {
    const auto ticket = ledger_.begin(scope);
    auto now = detail::Scanner{options_.read}.scan(paths_, ticket.before, scope);
    finish(now, ticket);
    return now;
  }

  void finish(const std::shared_ptr<const detail::Scan>& scan,
              const detail::ScanLedger::Ticket& ticket) {
    // Before the first scan, a path may have been redirected since the watcher was opened.
    const bool elsewhere =
        watcher_ && (!ticket.before || detail::leads_elsewhere(*ticket.before, *scan));
    ledger_.finish(scan, ticket);
    if (elsewhere) rewatch();
  }

  void rewatch() {
    const detail::Lock lock{watch_mutex_};
    watcher_->rewatch();
    ledger_.report_change();  // the next scan covers changes before the new watches
  }

  const std::vector<std::string> paths_;
  const CacheOptions options_;
  detail::ScanLedger ledger_{};
  detail::Mutex watch_mutex_{};  // protects the watcher
  std::optional<Watcher> watcher_{};
  std::optional<Error> watch_error_{};
  detail::BackgroundThread thread_{};  // the last member, so that the thread ends first
};

CDI_INLINE Cache::Cache(std::vector<std::string> dirs, const CacheOptions& options)
    : impl_{std::make_unique<Impl>(std::move(dirs), options)} {}
CDI_INLINE Cache::~Cache() = default;

CDI_INLINE std::shared_ptr<const Registry> Cache::registry() {
  return impl_->registry();
}

CDI_INLINE std::shared_ptr<const Registry> Cache::snapshot() {
  return impl_->snapshot();
}

CDI_INLINE std::shared_ptr<const Registry> Cache::refresh() {
  return impl_->refresh();
}

CDI_INLINE Result<std::shared_ptr<const Registry>> Cache::wait_for(
    Names names, std::chrono::steady_clock::time_point deadline, const WaitOptions& options) {
  return impl_->wait_for(names, deadline, options);
}

CDI_INLINE int Cache::descriptor() const {
  return impl_->descriptor();
}

CDI_INLINE const std::optional<Error>& Cache::watch_error() const {
  return impl_->watch_error();
}

}  // namespace cdi

#endif  // CDI_DIRS_CACHE_INL
