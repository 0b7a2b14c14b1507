// Tests for include/cdi/text/scalar.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <cdi/model/type_of.hpp>
#include <cdi/text/scalar.hpp>

namespace {

using cdi::detail::Integer;
using cdi::detail::parse_boolean;
using cdi::detail::parse_integer;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto max = std::numeric_limits<std::int64_t>::max();

/// A number as a `T`, if it is one.
template <class T>
std::optional<T> as(const Integer& number) {
  const auto bits = number.bits_of(cdi::detail::type_of<T>);
  return bits ? std::optional{static_cast<T>(*bits)} : std::nullopt;
}

TEST_CASE("Whole numbers are read in every form of JSON and YAML") {
  struct Row {
    std::string text;
    std::int64_t value;
  };
  for (const auto& row : {
           Row{"0", 0},
           Row{"-0", 0},
           Row{"+7", 7},
           Row{"-12", -12},
           Row{"1_000", 1000},
           Row{"0644", 0644},  // YAML 1.1
           Row{"0o644", 0644},
           Row{"-010", -8},
           Row{"00", 0},
           Row{"0x1F", 31},
           Row{"0X1f", 31},
           Row{"-0x10", -16},
           Row{"0b101", 5},
           Row{"0B11", 3},
           Row{"240.0", 240},
           Row{"1.50e2", 150},
           Row{"1e2", 100},
           Row{"1E+2", 100},
           Row{"1200e-2", 12},
           Row{"0.0", 0},
           Row{"0e999999999", 0},
           Row{"0.0e-400", 0},
           Row{"9223372036854775807", max},
           Row{"-9223372036854775808", least},
           Row{"0x7fffffffffffffff", max},
           Row{"-0x8000000000000000", least},
       }) {
    CAPTURE(row.text);
    const Integer number = parse_integer(row.text);
    CHECK(number.state == Integer::State::whole);
    CHECK(as<std::int64_t>(number) == row.value);
  }
}

TEST_CASE("Numbers of more than 64 bits differ from texts that are not numbers") {
  for (const std::string text :
       {"1e20", "1e2147483647", "1e99999999999999999999", "0x10000000000000000",
        "18446744073709551616", "-18446744073709551616",
        "99999999999999999999999999999999999999999"}) {
    CAPTURE(text);
    CHECK(parse_integer(text).state == Integer::State::too_large);
  }
  for (const std::string text : {"9223372036854775808", "1e19", "0xffffffffffffffff"}) {
    CAPTURE(text);
    CHECK_FALSE(as<std::int64_t>(parse_integer(text)));
    CHECK(as<std::uint64_t>(parse_integer(text)) > 9223372036854775807U);
  }
  CHECK_FALSE(as<std::int64_t>(parse_integer("-9223372036854775809")));
  CHECK_FALSE(as<std::uint64_t>(parse_integer("-1")));
  for (const std::string text :
       {"",     "-",    "+",     "_",    ".",     "e1",    "1e",   "1e+",   "0x",
        "0b",   "0o",   "0b102", "0o8",  "0xg",   "1.5",   "1e-1", "0x1.8", "--1",
        "-+1",  "+-1",  "- 1",   " 1",   "1 ",    "1 2",   "1,5",  "abc",   "true",
        "1:30", ".inf", ".nan",  "0x-1", "0x0x1", "1e1e1", "1.5.0"}) {
    CAPTURE(text);
    CHECK(parse_integer(text).state == Integer::State::none);
  }
}

TEST_CASE("An exponent has one sign, and a very small one does not overflow") {
  CHECK(parse_integer("100e+-2").state == Integer::State::none);
  CHECK(parse_integer("1.5e-2147483648").state == Integer::State::none);
}

TEST_CASE("Booleans are the words of YAML 1.1, in three cases each") {
  for (const std::string word : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "y", "Y"}) {
    CAPTURE(word);
    CHECK(parse_boolean(word) == true);
  }
  for (const std::string word : {"false", "False", "FALSE", "no", "No", "off", "OFF", "n", "N"}) {
    CAPTURE(word);
    CHECK(parse_boolean(word) == false);
  }
  for (const std::string word : {"", "0", "1", "tRUE", "t", "yEs", "null", "true "}) {
    CAPTURE(word);
    CHECK_FALSE(parse_boolean(word));
  }
}

TEST_CASE("What is not a number has no bits, and a small exponent of zero is zero") {
  CHECK_FALSE(as<std::int64_t>(parse_integer("abc")));
  CHECK_FALSE(as<std::uint64_t>(parse_integer("1e99")));
  CHECK(as<std::int64_t>(parse_integer("0e-99999999999999999999")) == 0);
  CHECK(parse_integer("1e-99999999999999999999").state == Integer::State::none);
}

TEST_CASE("A text that begins with a digit, perhaps after a sign, looks like a number") {
  for (const std::string text : {"0", "9x", "-1", "+1"}) {
    CAPTURE(text);
    CHECK(cdi::detail::looks_like_number(text));
  }
  for (const std::string text : {"", "-", "+", "x", "-x", "--1", "/1", ":1"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::detail::looks_like_number(text));
  }
}

}  // namespace
