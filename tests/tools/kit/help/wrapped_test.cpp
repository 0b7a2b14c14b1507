// Text wrapped at words.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/help/wrapped.hpp"

#include <doctest/doctest.h>

TEST_CASE("Words are put into lines that are not too wide") {
  CHECK(tools::wrapped("", 10) == "\n");
  CHECK(tools::wrapped("one two three", 7) == "one two\nthree\n");
  CHECK(tools::wrapped("one two three", 6) == "one\ntwo\nthree\n");
  CHECK(tools::wrapped("one  two\nthree", 80) == "one two three\n");
  CHECK(tools::wrapped("a lengthyword b", 4) == "a\nlengthyword\nb\n");
}

TEST_CASE("The first line may begin with a text, and the others are indented") {
  CHECK(tools::wrapped("one two three", 9, 2, "- ") == "- one two\n  three\n");
}

TEST_CASE("A row has its meaning beside a short term, and below a long one") {
  CHECK(tools::wrapped_row("-a", "one two", 6, 13) == "  -a  one two\n");
  CHECK(tools::wrapped_row("-a", "one two", 6, 12) == "  -a  one\n      two\n");
  CHECK(tools::wrapped_row("-abc", "one", 6, 12) == "  -abc\n      one\n");
  CHECK(tools::wrapped_row("-a", "", 6, 12) == "  -a\n");
  CHECK(tools::wrapped_row("-abc", "", 6, 12) == "  -abc\n");
}
