// Tests for include/cdi/base/mutex.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/mutex.hpp>

TEST_CASE("A mutex admits one thread at a time") {
  cdi::detail::Mutex mutex;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10'000; ++round) {
        const cdi::detail::Lock lock{mutex};
        ++sum;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(sum == 40'000);
}
