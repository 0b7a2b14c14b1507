// The lines of the log of cdi-dra, as text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/log.hpp"

#include <doctest/doctest.h>

using namespace dra;

TEST_CASE("dra: a line of the log says what happened to what") {
  CHECK(text_of({.event = "ended"}) == "ended");
  CHECK(text_of({.event = "serving", .path = "/k/dra.sock"}) == "serving /k/dra.sock");
  LogLine prepared{.event = "prepared", .devices = {"gpu-0", "gpu-1"}, .microseconds = 12};
  prepared.ids = {"d/claim=u-0", "d/claim=u-1"};
  CHECK(text_of(prepared.about({"team", "one", "u\n"})) ==
        "prepared claim team/one (u\\n) gpu-0, gpu-1 as d/claim=u-0, d/claim=u-1 in 12 us");
  CHECK(text_of({.event = "published", .generation = 3, .slices = 2}) ==
        "published 2 slices of generation 3");
  CHECK(text_of({.event = "published", .generation = 1, .slices = 1}) ==
        "published 1 slice of generation 1");
  CHECK(text_of({.event = "failed", .claim = "u", .error = "no"}) == "failed claim u: no");
  CHECK(text_of({.event = "warning", .error = "no"}) == "warning: no");
}
