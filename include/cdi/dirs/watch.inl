// The bodies of <cdi/dirs/watch.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_WATCH_INL
#define CDI_DIRS_WATCH_INL

#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <cdi/apply/host.hpp>
#include <cdi/dirs/watch.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Watcher::Watcher(Descriptor inotify, const std::vector<std::string>& dirs)
    : inotify_{std::move(inotify)}, paths_{inotify_.get(), dirs} {}

CDI_INLINE Result<Watcher> Watcher::open(const std::vector<std::string>& dirs) {
  Descriptor inotify{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify) {
    return detail::with_advice(
        detail::system_error(Errc::system, "inotify is not available", errno));
  }
  Watcher watcher{std::move(inotify), dirs};
  watcher.rewatch();
  if (watcher.watch_error()) return *watcher.watch_error();
  return Result<Watcher>{std::move(watcher)};
}

CDI_INLINE bool Watcher::consume() {
  const bool unsure = watch_error().has_value();
  return consume_events() || unsure;
}

CDI_INLINE bool Watcher::wait_until(std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  for (;;) {
    if (consume_events()) return true;
    const auto now = steady_clock::now();
    if (deadline <= now) return false;
    const milliseconds longest = watch_error() ? milliseconds{100} : milliseconds{hours{1}};
    const auto left = ceil<milliseconds>(deadline - now);
    const auto rest = left < longest ? left : longest;
    pollfd one{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
    ::poll(&one, 1, static_cast<int>(rest.count()));  // a signal may end it early: the loop goes on
    if (watch_error()) return true;
  }
}

CDI_INLINE bool Watcher::consume_events() {
  read_events();
  const bool had_error = watch_error().has_value();
  if (unhandled_ == detail::WatchedEvent::paths || had_error) rewatch();
  const auto change = std::exchange(unhandled_, detail::WatchedEvent::none);
  return change != detail::WatchedEvent::none || (had_error && !watch_error());
}

CDI_INLINE void Watcher::rewatch() {
  // If memory runs out, the next call of `consume` tries again.
  const auto before = std::exchange(unhandled_, detail::WatchedEvent::paths);
  paths_.rewatch();
  unhandled_ = before;
}

/// Reads the events that are now in the queue, but none that arrive meanwhile.
CDI_INLINE void Watcher::read_events() {
  alignas(inotify_event) char block[16384];
  int queued = 0;
  ::ioctl(inotify_.get(), FIONREAD, &queued);
  while (queued > 0) {
    const ssize_t got = ::read(inotify_.get(), block, sizeof block);
    if (got <= 0) break;
    queued -= static_cast<int>(got);
    const auto found = paths_.changes_in({block, static_cast<std::size_t>(got)});
    if (unhandled_ < found) unhandled_ = found;
  }
}

}  // namespace cdi

#endif  // CDI_DIRS_WATCH_INL
