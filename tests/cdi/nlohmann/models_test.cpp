// Tests for include/cdi/nlohmann/models.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <clocale>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/hooks.hpp>

#include "../../support/every_spec_field.hpp"

namespace {

TEST_CASE("A model as a JSON value equals the text parsed by nlohmann") {
  const cdi::Spec spec = every_field_said();
  const auto value = cdi::to_json_value<nlohmann::json>(spec);
  CHECK(value == nlohmann::json::parse(*cdi::write_json(spec)));
  const auto& node = value["devices"][0]["containerEdits"]["deviceNodes"][0];
  CHECK(node["uid"].is_number_unsigned());
  CHECK(node["minor"].is_number_integer());
  CHECK_FALSE(node["minor"].is_number_unsigned());
}

template <class Json>
Json number(std::string_view text) {
  return cdi::to_json_value<Json>(
      cdi::oci::HookView{.extra = {{"n", {.kind = cdi::ValueKind::number, .text = text}}}})["n"];
}

template <class Json>
void check_numbers() {
  for (const std::string_view text : {"0",
                                      "-0",
                                      "7",
                                      "-7",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "0.0",
                                      "-0.0",
                                      "0.1",
                                      "-1.5e-7",
                                      "1E5",
                                      "1e+5",
                                      "123456789012345678901234567890",
                                      "1.7976931348623157e308",
                                      "4.9e-324",
                                      "1e-999",
                                      "2.2250738585072011e-308",
                                      "0.30000000000000004"}) {
    CAPTURE(text);
    const auto expected = Json::parse(text);
    const auto made = number<Json>(text);
    CHECK(made.type() == expected.type());
    CHECK(made.dump() == expected.dump());
    CHECK(made == expected);
  }
  for (const std::string_view text : {"1e999", "-1e999", "", "-", "01", "0x1", "nan", "+1"}) {
    CAPTURE(text);
    CHECK(number<Json>(text) == Json(std::string{text}));
  }
}

TEST_CASE("A number is what nlohmann's parser reads, or text where that rejects it") {
  check_numbers<nlohmann::json>();
  check_numbers<nlohmann::ordered_json>();
  using Narrow = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int32_t,
                                      std::uint32_t, float>;
  for (const std::string_view text : {"-7", "4294967295", "4294967296", "-2147483649", "0.1"}) {
    CAPTURE(text);
    CHECK(number<Narrow>(text).type() == Narrow::parse(text).type());
    CHECK(number<Narrow>(text) == Narrow::parse(text));
  }
  CHECK(number<Narrow>("1e39") == Narrow("1e39"));
}

TEST_CASE("The decimal point of a number is a point in every locale") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) CHECK(number<nlohmann::json>("1.5") == 1.5);
  }
  std::setlocale(LC_NUMERIC, before.c_str());
}

}  // namespace
