// Work that may not be waited for without limit.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/worker.hpp"

#include <chrono>
#include <future>
#include <memory>

#include <doctest/doctest.h>

using nri::JobEnd;
using std::chrono::milliseconds;

TEST_CASE("nri: a job that ends in time is done") {
  nri::Worker worker;
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    CHECK(worker.run_within(milliseconds{60'000}, [&done] { ++done; }) == JobEnd::done);
  }
  CHECK(done == 100);
}

TEST_CASE("nri: a job that hangs is left, and later jobs wait for its end") {
  auto hanging = std::make_shared<std::promise<void>>();
  nri::Worker worker;
  const auto hang = [hanging] {
    hanging->get_future().wait();
  };
  CHECK(worker.run_within(milliseconds{1}, hang) == JobEnd::late);
  bool begun = false;
  CHECK(worker.run_within(milliseconds{1}, [&begun] { begun = true; }) == JobEnd::not_begun);
  hanging->set_value();
  CHECK(worker.run_within(milliseconds{60'000}, [] {}) == JobEnd::done);
  CHECK_FALSE(begun);
}

TEST_CASE("nri: a worker does not wait for a job that hangs when it ends") {
  auto hanging = std::make_shared<std::promise<void>>();
  {
    nri::Worker worker;
    const auto end =
        worker.run_within(milliseconds{1}, [hanging] { hanging->get_future().wait(); });
    CHECK(end == JobEnd::late);
  }
  hanging->set_value();
}
