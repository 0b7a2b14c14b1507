// Text on one line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/base/one_line.hpp"

#include <string>

#include <doctest/doctest.h>

using prepare::as_line;
using prepare::one_line;

TEST_CASE("plain text stays as it is, with quotes and backslashes") {
  for (const auto* text : {"", "a", "\"", "\\", "a \"b\" c\\d", "\xc3\xa4 \xe2\x82\xac"}) {
    CHECK(one_line(text) == text);
  }
  CHECK(one_line(std::string(1000, 'x')) == std::string(1000, 'x'));
}

TEST_CASE("what makes lines or is obeyed has an escape") {
  CHECK(one_line("a\nb\r\t") == "a\\nb\\x0d\\x09");
  CHECK(one_line("\"\x1b[31m\"\x7f") == "\"\\x1b[31m\"\\x7f");
  CHECK(one_line("\xff\xc3") == "\\xff\\xc3");
  CHECK(one_line(std::string(1, '\0')) == "\\x00");
}

TEST_CASE("a line has one end") {
  CHECK(as_line("") == "\n");
  CHECK(as_line("a\n") == "a\\n\n");
}
