// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/rules/file_mode.hpp>

using cdi::detail::parse_mode;

TEST_CASE("A mode is octal text, at most 07777") {
  CHECK(parse_mode("0") == 0U);
  CHECK(parse_mode("644") == 0644U);
  CHECK(parse_mode("0644") == 0644U);
  CHECK(parse_mode("07777") == 07777U);
  for (const auto* wrong : {"", "8", "0648", "-1", "0x1", " 644", "644 ", "10000", "000644"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_mode(wrong));
  }
}
