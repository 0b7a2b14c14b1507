// A system thread: <thread> is expensive to include.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_THREAD_HPP
#define CDI_DIRS_THREAD_HPP

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A thread that runs a task at once, and again whenever a descriptor is readable or a second has
/// passed, but at most 100 times a second. The thread handles no signals. The destructor waits
/// until the task has ended. In a forked process, which has no such thread, the destructor does
/// nothing.
class BackgroundThread {
 public:
  using Work = void (*)(void* object);

  BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  ~BackgroundThread() {
    if (!is_running_ || ::getpid() != process_) return;  // a fork shares the descriptor
    constexpr std::uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
    ::pthread_join(thread_, nullptr);
  }

  /// Starts the thread, once; `descriptor` may be negative. Returns 0, or `errno` on failure.
  int start(Work work, void* object, int descriptor) {
    work_ = work;
    object_ = object;
    descriptor_ = descriptor;
    process_ = ::getpid();
    stop_ = Descriptor{::eventfd(0, EFD_CLOEXEC)};
    if (!stop_) return errno;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits the mask
    const int failed = ::pthread_create(&thread_, nullptr, &BackgroundThread::run, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    is_running_ = failed == 0;
    return failed;
  }

  bool is_running() const { return is_running_; }

 private:
  static void* run(void* self) {
    static_cast<BackgroundThread*>(self)->repeat();
    return nullptr;
  }

  void repeat() const {
    constexpr int shortest = 10;  // milliseconds: another program may change files all the time
    constexpr int longest = 1000;
    pollfd events[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                       {.fd = descriptor_, .events = POLLIN, .revents = 0}};
    do {
      work_(object_);
      if (::poll(&events[0], 1, shortest) == 0) ::poll(events, std::size(events), longest);
    } while (events[0].revents == 0);
  }

  Work work_ = nullptr;
  void* object_ = nullptr;
  int descriptor_ = -1;
  Descriptor stop_{-1};
  pthread_t thread_{};
  pid_t process_ = 0;  // which has the thread
  bool is_running_ = false;
};

}  // namespace cdi::detail

#endif  // CDI_DIRS_THREAD_HPP
