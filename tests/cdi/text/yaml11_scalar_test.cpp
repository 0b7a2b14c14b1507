// Tests for include/cdi/text/yaml11_scalar.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/text/yaml11_scalar.hpp>

namespace {

using cdi::detail::is_other_text_in_yaml_1_1;
using cdi::detail::may_be_other_text;

// What the Go library 1.0.1 reads was tried for each text, and for 36,000 random ones.
TEST_CASE("Texts without quotes are found that YAML 1.1 reads as other texts") {
  for (const std::string text : {"yes",
                                 "Yes",
                                 "no",
                                 "NO",
                                 "on",
                                 "Off",
                                 "y",
                                 "N",
                                 "True",
                                 "FALSE",
                                 "010",
                                 "-010",
                                 "08",
                                 "00",
                                 "-0",
                                 "+5",
                                 "1_0",
                                 "0x1F",
                                 "-0xa",
                                 "0b11",
                                 "0o7",
                                 "1.0",
                                 "-1.50",
                                 ".5",
                                 "5.",
                                 "-.0",
                                 "1e3",
                                 "1E-3",
                                 "1.5e3",
                                 "1_0.5_",
                                 ".inf",
                                 "-.Inf",
                                 ".NaN",
                                 "0_1",
                                 "0.00001",
                                 "1234567.5",
                                 "99999999999999999999",
                                 "+.1",
                                 "-._5",
                                 "-_5",
                                 "+_1",
                                 "1e308",
                                 "1.2345678",
                                 "12345.6789",
                                 "0.12345678",
                                 "-9223372036854775809",
                                 "0xFFFFFFFFFFFFFFFF"}) {
    CAPTURE(text);
    CHECK(is_other_text_in_yaml_1_1(text));
    CHECK(may_be_other_text(text));
  }
}

TEST_CASE("Other texts are the same in YAML 1.1") {
  for (const std::string text : {"",
                                 "true",
                                 "false",
                                 "0",
                                 "7",
                                 "42",
                                 "-1",
                                 "100",
                                 "1234567890123456789",
                                 "18446744073709551615",
                                 "-9223372036854775808",
                                 "0xFFFFFFFFFFFFFFFFF",
                                 "-0x8000000000000001",
                                 "1.234567",
                                 "12345.67",
                                 "0.1234567",
                                 "0.5",
                                 "-0.5",
                                 "1.5",
                                 "10.25",
                                 "123456.5",
                                 "0.0001",
                                 "1.2.3",
                                 "1.1.0",
                                 "0:0",
                                 "1g.5gb",
                                 "_1",
                                 "._1",
                                 "0x",
                                 "0xg",
                                 "0b2",
                                 "0o8",
                                 "1e",
                                 "e1",
                                 "1e+",
                                 "1e400",
                                 "yEs",
                                 "tRUE",
                                 "none",
                                 "nodev",
                                 "noexec",
                                 "ro",
                                 "-",
                                 "+",
                                 "--link",
                                 ".",
                                 "/dev/nvidia0",
                                 "2020-01-01",
                                 "0000:17:00.0",
                                 "inf",
                                 "nan",
                                 "1:30",
                                 "08:00.0",
                                 "-f"}) {
    CAPTURE(text);
    CHECK_FALSE(is_other_text_in_yaml_1_1(text));
  }
}

TEST_CASE("Most texts are recognised by their first characters") {
  for (const std::string text : {"/dev/nvidia0", "--link", "nodev", "rw", "vendor.com/gpu", "-f",
                                 "noexec", "Truely", "once", "c", "-", ""}) {
    CAPTURE(text);
    CHECK_FALSE(may_be_other_text(text));
  }
}

TEST_CASE("Long numbers and large exponents are no other texts") {
  CHECK(is_other_text_in_yaml_1_1(std::string(64, '1')));
  CHECK_FALSE(is_other_text_in_yaml_1_1(std::string(65, '1')));
  CHECK(is_other_text_in_yaml_1_1("1e308"));
  CHECK_FALSE(is_other_text_in_yaml_1_1("1e309"));
  CHECK_FALSE(is_other_text_in_yaml_1_1("123456.7"));  // Go writes it like that
  CHECK(is_other_text_in_yaml_1_1("1234567."));
  CHECK(is_other_text_in_yaml_1_1("1234567.8"));
}

TEST_CASE("Of the letters, only y and n may be another text") {
  for (const std::string text : {"y", "Y", "n", "N"}) CHECK(may_be_other_text(text));
  for (const std::string text : {"", "x", "0", "t", "-"}) CHECK_FALSE(may_be_other_text(text));
}

}  // namespace
