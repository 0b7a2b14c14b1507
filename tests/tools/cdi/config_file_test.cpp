// Tests for tools/cdi/base/config_file.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/base/config_file.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

TEST_CASE("A number has digits and a power of ten") {
  struct {
    std::string_view number;
    std::string_view digits;
    long exponent;
  } const rows[] = {
      {"120.0", "12", 1}, {"1.2e2", "12", 1}, {"-0.0120", "12", -3}, {"0", "", 0},
      {"0.00e5", "", 0},  {"1E+2", "1", 2},   {"100e-2", "1", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.number);
    const auto decimal = detail::parse_decimal(row.number);
    CHECK(decimal.digits == row.digits);
    CHECK(decimal.exponent == row.exponent);
  }
}

TEST_CASE("An exponent beyond all numbers keeps its sign") {
  for (const std::string_view number :
       {"1.05e-99999999999999999999", "1.05e-9223372036854775808", "1.05e-9223372036854775807"}) {
    CAPTURE(number);
    CHECK(detail::parse_decimal(number).exponent < -1'000'000);
  }
  for (const std::string_view number :
       {"100e99999999999999999999", "100e9223372036854775807", "100e9223372036854775806"}) {
    CAPTURE(number);
    CHECK(detail::parse_decimal(number).exponent > 1'000'000);
  }
  CHECK_FALSE(parse_config(R"({"a":1.05e-99999999999999999999})", "config.json"));
  CHECK(parse_config(R"({"a":0e-99999999999999999999})", "config.json"));
}
