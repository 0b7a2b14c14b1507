// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <thread>

#include <doctest/doctest.h>

#include <cdi/files/patience.hpp>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

}  // namespace

TEST_CASE("A wait lasts at least as long as requested, despite signals") {
  struct sigaction before = {};
  struct sigaction ignore = {};
  ignore.sa_handler = [](int) {
  };  // without SA_RESTART: system calls are interrupted
  REQUIRE(::sigaction(SIGUSR1, &ignore, &before) == 0);
  const pthread_t waiting = ::pthread_self();
  std::thread sender{[&] {
    for (int i = 0; i < 100; ++i) ::pthread_kill(waiting, SIGUSR1);
  }};
  const auto begin = Clock::now();
  cdi::detail::sleep_for(20ms);
  CHECK(Clock::now() - begin >= 20ms);
  sender.join();
  REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
  cdi::detail::sleep_for(-1s);  // does not wait
}

TEST_CASE("Patience waits until its time is over, and not at all without time") {
  const cdi::detail::Patience none{0ms};
  CHECK_FALSE(none());
  const auto begin = Clock::now();
  const cdi::detail::Patience some{20ms};
  int waits = 0;
  while (some()) ++waits;
  CHECK(waits <= 10);
  CHECK(Clock::now() - begin >= 2ms * waits);
  CHECK(cdi::detail::Patience{std::chrono::milliseconds::max()}());  // does not overflow
}
