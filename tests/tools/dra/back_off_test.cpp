// How long a program waits after failures.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/api_server/back_off.hpp"

#include <chrono>

#include <doctest/doctest.h>

using namespace dra;
using namespace std::chrono_literals;

TEST_CASE("delays double up to a limit, and are spread") {
  Jitter jitter{1};
  BackOff back_off;
  auto middle = std::chrono::milliseconds{1s};
  for (int i = 0; i < 20; ++i) {
    const auto delay = back_off.next(jitter);
    CHECK(delay >= middle / 2);
    CHECK(delay <= middle * 3 / 2);
    middle = std::min<std::chrono::milliseconds>(2 * middle, 300s);
  }
  back_off.reset();
  CHECK(back_off.next(jitter) <= 1500ms);
}

TEST_CASE("two nodes do not wait equally long") {
  Jitter one{1};
  Jitter two{2};
  CHECK(one.around(100s, 0.5, 1.5) != two.around(100s, 0.5, 1.5));
}

TEST_CASE("a server that says when to come back is obeyed") {
  Jitter jitter{1};
  BackOff back_off;
  for (int i = 0; i < 5; ++i) {
    const auto delay = back_off.next(jitter, 60s);
    CHECK(delay >= 60s);
    CHECK(delay <= 120s);
  }
}
