// Tests for tools/pod/quantity.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/pod/quantity.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using pod::Quantity;

namespace {

constexpr std::int64_t most = 9'223'372'036'854'775'807;  // 2^63 - 1

}  // namespace

TEST_CASE("An amount is read exactly, to billionths") {
  const struct {
    std::string_view text;
    Quantity amount;
  } rows[] = {
      {"0", {0, 0}},
      {"-0", {0, 0}},
      {"+2", {2, 0}},
      {"007", {7, 0}},
      {"5.", {5, 0}},
      {".5", {0, 500'000'000}},
      {"1.5", {1, 500'000'000}},
      {"1n", {0, 1}},
      {"1u", {0, 1'000}},
      {"100m", {0, 100'000'000}},
      {"2k", {2'000, 0}},
      {"1M", {1'000'000, 0}},
      {"1E", {1'000'000'000'000'000'000, 0}},
      {"1Ki", {1'024, 0}},
      {"0.1Ki", {102, 400'000'000}},
      {"1.5Gi", {1'610'612'736, 0}},
      {"7Ei", {8'070'450'532'247'928'832, 0}},
      {"1e3", {1'000, 0}},
      {"1E3", {1'000, 0}},
      {"1e+3", {1'000, 0}},
      {"12e-1", {1, 200'000'000}},
      {"1e-9", {0, 1}},
      {"0.001k", {1, 0}},
      {"0e999999999999", {0, 0}},
      {"0.000000000000000000000000001E", {0, 1}},
      {"9223372036854775807", {most, 0}},
      {"9.223372036854775807E", {most, 0}},
      {"0000000000000000000000000000001", {1, 0}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto amount = pod::parse_quantity(row.text);
    REQUIRE(amount);
    CHECK(amount->whole == row.amount.whole);
    CHECK(amount->nano == row.amount.nano);
  }
}

TEST_CASE("What is smaller than a billionth is rounded up") {
  CHECK(*pod::parse_quantity("0.1n") == Quantity{0, 1});
  CHECK(*pod::parse_quantity("1e-1000000") == Quantity{0, 1});
  CHECK(*pod::parse_quantity("1.0000000001") == Quantity{1, 1});
  CHECK(*pod::parse_quantity("1.9999999999") == Quantity{2, 0});
  CHECK(*pod::parse_quantity("0.1000000000000001Ki") == Quantity{102, 400'000'001});
  CHECK(*pod::parse_quantity("1.00000000000000000000") == Quantity{1, 0});
}

TEST_CASE("What is not an amount is refused with a reason") {
  const struct {
    std::string_view text;
    std::string_view reason;
  } rows[] = {
      {"", "is not a quantity"},
      {".", "is not a quantity"},
      {"-", "is not a quantity"},
      {"1.2.3", "is not a quantity"},
      {" 1", "is not a quantity"},
      {"1 Gi", "is not a quantity"},
      {"1K", "is not a quantity"},
      {"1ki", "is not a quantity"},
      {"1Mi1", "is not a quantity"},
      {"1e", "is not a quantity"},
      {"1e1.5", "is not a quantity"},
      {"1e1x", "is not a quantity"},
      {"1e+", "is not a quantity"},
      {"0x10", "is not a quantity"},
      {"--1", "is not a quantity"},
      {"Gi", "is not a quantity"},
      {"-1", "must not be negative"},
      {"-1n", "must not be negative"},
      {"-8Ei", "must not be negative"},
      {"9223372036854775808", "larger than 2^63 - 1"},
      {"8Ei", "larger than 2^63 - 1"},
      {"10E", "larger than 2^63 - 1"},
      {"1e19", "larger than 2^63 - 1"},
      {"1e99999999999999999999", "larger than 2^63 - 1"},
      {"9223372036854775807.9999999999", "larger than 2^63 - 1"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto amount = pod::parse_quantity(row.text);
    REQUIRE_FALSE(amount);
    CHECK(amount.error().message.find(row.reason) != std::string::npos);
  }
  CHECK(pod::parse_quantity(std::string(256, '0')));
  CHECK_FALSE(pod::parse_quantity(std::string(257, '0')));
}

TEST_CASE("Units, thousandths and MiB are rounded up") {
  CHECK(pod::units({1, 0}) == 1);
  CHECK(pod::units({1, 1}) == 2);
  CHECK(pod::units({most, 0}) == most);
  CHECK(pod::units({most, 1}) == most);
  CHECK(*pod::thousandths({1, 0}) == 1'000);
  CHECK(*pod::thousandths({0, 1}) == 1);
  CHECK(*pod::thousandths({0, 1'000'001}) == 2);
  CHECK(*pod::thousandths({0, 999'000'001}) == 1'000);
  CHECK(*pod::thousandths({most / 1000, 807'000'000}) == most);
  CHECK_FALSE(pod::thousandths({most / 1000, 807'000'001}));
  CHECK(pod::mebibytes({0, 0}) == 0);
  CHECK(pod::mebibytes({0, 1}) == 1);
  CHECK(pod::mebibytes({1 << 20, 0}) == 1);
  CHECK(pod::mebibytes({1 << 20, 1}) == 2);
  CHECK(pod::mebibytes({most, 0}) == 8'796'093'022'208);
}

TEST_CASE("A sum carries, and is refused beyond 2^63 - 1") {
  CHECK(*pod::sum({1, 600'000'000}, {2, 400'000'000}) == Quantity{4, 0});
  CHECK(*pod::sum({most - 1, 999'999'999}, {0, 1}) == Quantity{most, 0});
  CHECK_FALSE(pod::sum({most, 999'999'999}, {0, 1}));
  CHECK_FALSE(pod::sum({most, 0}, {1, 0}));
  CHECK_FALSE(pod::sum({most - 1, 1}, {1, 999'999'999}));
}

TEST_CASE("Whole units are printed as Kubernetes does") {
  CHECK(pod::decimal_text(0) == "0");
  CHECK(pod::decimal_text(8) == "8");
  CHECK(pod::decimal_text(1'000) == "1k");
  CHECK(pod::decimal_text(1'500) == "1500");
  CHECK(pod::decimal_text(2'000'000) == "2M");
}
