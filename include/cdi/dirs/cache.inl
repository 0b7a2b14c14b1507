// The bodies of <cdi/dirs/cache.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_CACHE_INL
#define CDI_DIRS_CACHE_INL

#include <cstddef>
#include <string_view>
#include <utility>

#include <cdi/base/mutex.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scan_ledger.hpp>
#include <cdi/dirs/scanner.hpp>
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
    if (options_.freshness == Freshness::watched) open_watcher();
  }

  std::shared_ptr<const Registry> registry() {
    const auto last = ledger_.last();
    if (last && options_.freshness == Freshness::manual) return last->registry;
    return check()->registry;
  }

  std::shared_ptr<const Registry> snapshot() {
    const auto last = ledger_.last();
    return last ? last->registry : check()->registry;
  }

  std::shared_ptr<const Registry> refresh() {
    note_events();
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
      note_events();
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

  int descriptor() const { return watcher_ ? watcher_->descriptor() : -1; }

  const std::optional<Error>& watch_error() const { return watch_error_; }

 private:
  void open_watcher() {
    auto watcher = Watcher::open(paths_);
    if (watcher) {
      watcher_.emplace(std::move(*watcher));
    } else {
      watch_error_.emplace(std::move(watcher).error());
    }
  }

  /// Takes the events of the watcher, whose descriptor is readable until then, before a scan that
  /// covers them. Returns what they, and the time since the last scan, make necessary.
  detail::ScanScope note_events() {
    if (!watcher_) return detail::ScanScope::everything;
    const detail::Lock lock{watch_mutex_};
    if (watcher_->consume()) ledger_.report_change();
    return ledger_.needed_scope(std::chrono::seconds{1});
  }

  /// Checks whatever may have changed.
  std::shared_ptr<const detail::Scan> check() { return scan(note_events()); }

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
