// Tests for include/cdi/dirs/thread.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/dirs/thread.hpp>
#include <cdi/files/descriptor.hpp>

#include "../../support/cache_tree.hpp"
#include "../../support/temp_tree.hpp"

namespace {

/// What the work of a thread does: it counts, and empties an event descriptor.
struct Counter {
  std::atomic<int> count = 0;
  std::atomic<bool> takes_signals = false;
  cdi::Descriptor event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  static void work(void* object) {
    auto& self = *static_cast<Counter*>(object);
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (::sigismember(&blocked, SIGTERM) == 0) self.takes_signals = true;
    eventfd_t ignored = 0;
    ::eventfd_read(self.event.get(), &ignored);
    ++self.count;
  }
};

}  // namespace

TEST_CASE("A thread works at once, and again whenever its descriptor is readable") {
  Counter counter;
  cdi::detail::BackgroundThread thread;
  CHECK_FALSE(thread.is_running());
  REQUIRE(thread.start(&Counter::work, &counter, counter.event.get()) == 0);
  CHECK(thread.is_running());
  for (int round = 1; round <= 5; ++round) {
    CHECK(eventually([&] { return counter.count >= round; }));
    REQUIRE(::eventfd_write(counter.event.get(), 1) == 0);
  }
  CHECK_FALSE(counter.takes_signals);
}

TEST_CASE("A thread works once a second even if no descriptor is readable") {
  Counter counter;
  cdi::detail::BackgroundThread thread;
  REQUIRE(thread.start(&Counter::work, &counter, -1) == 0);
  CHECK(eventually([&] { return counter.count >= 2; }));
}

TEST_CASE("A thread pauses for 10 ms even if a descriptor is always readable") {
  constexpr int rounds = 6;
  Counter counter;
  const cdi::Descriptor always{::eventfd(1, EFD_CLOEXEC)};
  const auto start = std::chrono::steady_clock::now();
  cdi::detail::BackgroundThread thread;
  REQUIRE(thread.start(&Counter::work, &counter, always.get()) == 0);
  CHECK(eventually([&] { return counter.count >= rounds; }));
  const int pauses = counter.count - 1;
  CHECK(std::chrono::steady_clock::now() - start >= pauses * std::chrono::milliseconds{10});
}

TEST_CASE("A thread has ended when its object is destroyed, and leaves no descriptor") {
  Counter counter;
  const auto before = open_files();
  {
    cdi::detail::BackgroundThread thread;
    REQUIRE(thread.start(&Counter::work, &counter, -1) == 0);
  }
  CHECK(open_files() == before);
  const int done = counter.count;
  REQUIRE(::eventfd_write(counter.event.get(), 1) == 0);
  CHECK(counter.count == done);
  CHECK(done >= 1);
}

TEST_CASE("A forked process that destroys the object does not end the thread of its parent") {
  Counter counter;
  std::optional<cdi::detail::BackgroundThread> thread{std::in_place};
  REQUIRE(thread->start(&Counter::work, &counter, counter.event.get()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // ends a child that waits for the thread
    thread.reset();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  const int done = counter.count;
  REQUIRE(::eventfd_write(counter.event.get(), 1) == 0);
  CHECK(eventually([&] { return counter.count > done; }));
}

TEST_CASE("Without free descriptors there is no thread, and the error is returned") {
  Counter counter;
  cdi::detail::BackgroundThread thread;
  const NoMoreFiles none;
  CHECK(thread.start(&Counter::work, &counter, -1) == EMFILE);
  CHECK_FALSE(thread.is_running());
}

#ifdef __GLIBC__
TEST_CASE("A thread that cannot start leaves the signal mask, and the error is returned") {
  pthread_attr_t normal;
  REQUIRE(::pthread_getattr_default_np(&normal) == 0);
  pthread_attr_t large = normal;
  REQUIRE(::pthread_attr_setstacksize(&large, SIZE_MAX / 16 * 15) == 0);
  REQUIRE(::pthread_setattr_default_np(&large) == 0);
  Counter counter;
  {
    cdi::detail::BackgroundThread thread;
    CHECK(thread.start(&Counter::work, &counter, -1) == EAGAIN);
    CHECK_FALSE(thread.is_running());
  }
  CHECK(counter.count == 0);
  sigset_t blocked;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0);
  CHECK(::sigismember(&blocked, SIGTERM) == 0);
  REQUIRE(::pthread_setattr_default_np(&normal) == 0);
}
#endif
