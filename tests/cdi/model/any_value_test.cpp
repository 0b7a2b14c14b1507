// Tests for include/cdi/model/any_value.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/any_value.hpp>
#include <cdi/model/copy_as.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/text/yaml/yaml.hpp>

#include "../../support/check_writable.hpp"

namespace {

/// A type that knows one member and keeps the others.
template <class S>
struct BasicExtended {
  cdi::StringOf<S> known{};
  cdi::ExtraOf<S> extra{};

  friend bool operator==(const BasicExtended&, const BasicExtended&) = default;

  static constexpr void fields(auto& list) { list("known", &BasicExtended::known); }
};

using Extended = BasicExtended<cdi::Owning>;
using ExtendedView = BasicExtended<cdi::Borrowed>;

std::string through_json(const std::string& text) {
  const auto read = cdi::read_json<Extended>(text);
  REQUIRE(read);
  return *cdi::write_json(*read, -1);
}

}  // namespace

TEST_CASE("Unknown members are written as they were read, after the fields") {
  for (const std::string text :
       {R"({"known":"a","x":null})", R"({"x":true,"y":false})", R"({"x":"true","y":"1"})",
        R"({"x":0,"y":-1,"z":18446744073709551615})", R"({"x":1.5,"y":-0.0,"z":1e+300})",
        R"({"x":[],"y":{},"z":""})", R"({"x":[1,[2,{"a":[null]}]],"y":{"b":{"a":1},"a":2}})",
        R"({"":"","known ":1})", R"({"x":"\u0000\n\"ü"})"}) {
    CAPTURE(text);
    auto expected = nlohmann::ordered_json::parse(text);
    CHECK(nlohmann::ordered_json::parse(through_json(text)) == expected);
  }
  CHECK(through_json(R"({"b":1,"known":"k","a":2})") == R"({"known":"k","b":1,"a":2})");
}

TEST_CASE("A field is found in any case") {
  CHECK(through_json(R"({"KNOWN":"a"})") == R"({"known":"a"})");
}

TEST_CASE("A type with an unknown member is not empty") {
  CHECK(cdi::is_empty(Extended{}));
  CHECK_FALSE(cdi::is_empty(*cdi::read_json<Extended>(R"({"x":null})")));
}

TEST_CASE("Values keep the text of numbers, and compare") {
  const auto read = cdi::read_json<Extended>(R"({"x":1e3})");
  REQUIRE(read);
  REQUIRE(read->extra.size() == 1);
  CHECK(read->extra[0].value == cdi::AnyValue{.kind = cdi::ValueKind::number, .text = "1e3"});
  CHECK(read->extra[0].value != cdi::AnyValue{.kind = cdi::ValueKind::text, .text = "1e3"});
  CHECK(cdi::AnyValue{}.empty());
  CHECK_FALSE(read->extra[0].value.empty());
}

TEST_CASE("A value that is copied to a view and back is equal") {
  const auto read = cdi::read_json<Extended>(R"({"known":"k","x":{"a":["t",1,null,true,[]]}})");
  REQUIRE(read);
  const auto view = cdi::copy_as<ExtendedView>(*read);
  CHECK(view.extra[0].key.data() == read->extra[0].key.data());
  CHECK(cdi::copy_as<Extended>(view) == *read);
}

TEST_CASE("Values of YAML equal values of JSON, or are text") {
  const auto read = cdi::read_yaml<Extended>(
      "n: 12\nf: 1.50\nb: true\nword: yes\nhex: 0x10\noctal: 017\nquoted: '12'\nnothing:\n"
      "dot: 1.\nplus: +1\nexponent: 1e5\nhalf: 1e\nlist: [a, 1]\n");
  REQUIRE(read);
  CHECK(*cdi::write_json(*read, -1) ==
        R"({"n":12,"f":1.50,"b":true,"word":"yes","hex":"0x10","octal":"017","quoted":"12",)"
        R"("nothing":null,"dot":"1.","plus":"+1","exponent":1e5,"half":"1e",)"
        R"("list":["a",1]})");
  const auto again = cdi::read_yaml<Extended>(*cdi::write_yaml(*read));
  REQUIRE(again);
  CHECK(cdi::to_json_value(*again) == cdi::to_json_value(*read));  // 1e5 is 1.0e+5 in YAML
}

TEST_CASE("A value that is not a JSON number is text, and refused when it is written as a number") {
  for (const std::string number : {"0", "-0", "12", "-1.50", "1e5", "1E5", "1e+05", "0.1E-7"}) {
    CAPTURE(number);
    CHECK(cdi::detail::is_json_number(number));
  }
  for (const std::string text : {"", "-", "+1", "007", "-01", "1.", ".5", "1e", "1e+", "1 ", "0x1",
                                 "1\nroot: {}", "\xff", "NaN"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::detail::is_json_number(text));
    const Extended made{.extra = {{"x", {.kind = cdi::ValueKind::number, .text = text}}}};
    CHECK_FALSE(cdi::write_json(made));
    CHECK_FALSE(cdi::write_yaml(made));
    CHECK_FALSE(check_writable(made));
  }
}

TEST_CASE("Numbers are written for YAML 1.1 with a point, and a sign in the exponent") {
  for (const auto& row :
       {std::pair{"1e5", "1.0e+5"}, std::pair{"1.5E10", "1.5e+10"}, std::pair{"1e-7", "1.0e-7"},
        std::pair{"2E+3", "2.0e+3"}, std::pair{"1.50", "1.50"}, std::pair{"12", "12"}}) {
    const auto read = cdi::read_json<Extended>(std::string{R"({"x":)"} + row.first + "}");
    REQUIRE(read);
    CHECK(*cdi::write_yaml(*read) == std::string{"---\nx: "} + row.second + "\n");
  }
}

TEST_CASE("A number too large for nlohmann is text there, and unchanged in JSON text") {
  const auto read = cdi::read_yaml<Extended>("x: 1e999\n");
  REQUIRE(read);
  CHECK(*cdi::write_json(*read, -1) == R"({"x":1e999})");
  CHECK(cdi::to_json_value(*read)["x"] == "1e999");
}
