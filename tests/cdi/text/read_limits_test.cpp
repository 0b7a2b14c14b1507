// Many errors of one text, and the memory of its values; other errors are in read_test.cpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/limits.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

namespace {

using cdi::Errc;
using cdi::detail::Reading;
using Texts = std::vector<std::string>;

/// An object that takes a hundred times the memory of the text `{}`.
struct Large {
  std::string text{};
  char other[256] = {};

  static constexpr void fields(auto& list) { list("text", &Large::text); }
};

struct Lists {
  std::vector<Large> first{};
  std::vector<Large> second{};

  static constexpr void fields(auto& list) {
    list("first", &Lists::first);
    list("second", &Lists::second);
  }
};

/// Where the errors are when reading goes on after each.
template <class T>
Texts every_error_in(std::string_view text) {
  const auto document = cdi::parse_json(text);
  REQUIRE(document);
  std::vector<cdi::Error> errors;
  Reading reading{.every = &errors};
  const auto read = cdi::detail::read_noting<T>(document->root(), reading);
  CHECK(static_cast<bool>(read) == errors.empty());
  Texts places;
  for (const auto& error : errors) places.push_back(error.where);
  return places;
}

/// Optional items, and a value of any shape.
struct Shapes {
  std::vector<std::optional<Large>> items{};
  cdi::AnyValue value{};

  static constexpr void fields(auto& list) {
    list("items", &Shapes::items);
    list("value", &Shapes::value);
  }
};

}  // namespace

TEST_CASE("Reading can go on after an error, and keeps the path of each") {
  CHECK(every_error_in<cdi::ContainerEdits>(
            R"({"env": [[], "A=1", {}], "ENV": [], "x": 1, "mounts": 7, "additionalGids": [1],
                "deviceNodes": [{"type": "c"}, {"path": "/a", "uid": -1, "y": 1}]})") ==
        Texts{"env[0]", "env[2]", "ENV", "x", "mounts", "deviceNodes[0].path", "deviceNodes[1].uid",
              "deviceNodes[1].y"});
  CHECK(every_error_in<cdi::Device>(R"({"annotations": {"k": [], "l": "v", "m": {}}})") ==
        Texts{"annotations.k", "annotations.m", "name", "containerEdits"});
  CHECK(every_error_in<cdi::ContainerEdits>(R"({"env": ["A=1"]})").empty());
}

TEST_CASE("Reading ends after a thousand errors, and after a limit") {
  CHECK(cdi::max_errors == 1000);
  const auto list = [](std::size_t count, const std::string& item) {
    std::string items = "[" + item;
    for (std::size_t i = 1; i < count; ++i) items.append("," + item);
    return items.append("]");
  };
  for (const std::string& member :
       {"\"env\": " + list(1001, "[]"), "\"deviceNodes\": " + list(1001, "{}"),
        "\"hooks\": " + list(1001, R"({"hookName":"","path":"","x":1})"),
        "\"mounts\": " + list(1001, R"({"hostPath":"","hostpath":""})"),
        "\"additionalGids\": " + list(1001, "-1")}) {
    const auto places = every_error_in<cdi::ContainerEdits>("{" + member + ", \"x\": 1}");
    CHECK(places.size() == cdi::max_errors);
    CHECK(places.back() != "x");
  }
  std::string annotations = "{\"k\": []";
  for (int i = 0; i < 1000; ++i) annotations.append(", \"" + std::to_string(i) + "\": []");
  CHECK(every_error_in<cdi::Device>("{\"annotations\": " + annotations + "}}").size() ==
        cdi::max_errors);
  const auto many = list(12'000, "{}");
  CHECK(every_error_in<Lists>("{\"first\": " + many + ", \"second\": " + many + ", \"x\": 1}") ==
        Texts{"second"});
}

TEST_CASE("Optional items, annotations and unknown members count as memory") {
  const auto limited = [](const auto& read) {
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::limit);
    return read.error().where;
  };
  const auto good = cdi::read_json<Shapes>(R"({"items": [null, {"text": "a"}], "value": [1]})");
  REQUIRE(good);
  REQUIRE(good->items.size() == 2);
  CHECK_FALSE(good->items[0]);
  CHECK(good->items[1]->text == "a");
  CHECK(good->value.kind == cdi::ValueKind::list);
  std::string items = "{}";
  for (int i = 1; i < 10'000; ++i) items.append(",{}");
  CHECK(limited(cdi::read_json<Shapes>("{\"items\": [" + items + "]}")).starts_with("items["));
  if (sizeof(void*) < 8) return;  // the rest takes less than ten times its text
  std::string annotations = "\"k\": \"\"";
  for (int i = 0; i < 200'000; ++i) annotations.append(",\"" + std::to_string(i) + "\":0");
  CHECK(limited(cdi::read_json<cdi::Device>("{\"annotations\": {" + annotations + "}}")) ==
        "annotations");
  std::string numbers = "1";
  for (int i = 0; i < 60'000; ++i) numbers.append(",1");
  CHECK(limited(cdi::read_json<cdi::oci::Mount>("{\"destination\": \"/a\", \"x\": [" + numbers +
                                                "]}")) == "x");
  CHECK(limited(cdi::read_json<Shapes>("{\"value\": [" + numbers + "]}")) == "value");
}

TEST_CASE("The memory of items has a limit for all lists together") {
  std::string items = "[{}";
  for (int i = 1; i < 12'000; ++i) items.append(",{}");
  items.append("]");
  CHECK(cdi::read_json<Lists>("{\"first\": " + items + "}"));
  const auto both = cdi::read_json<Lists>("{\"first\": " + items + ", \"second\": " + items + "}");
  REQUIRE_FALSE(both);
  CHECK(both.error().code == Errc::limit);
  CHECK(both.error().where == "second");
}

TEST_CASE("A list that needs all of the memory leaves none for the next one") {
  std::string items = "[{}";
  for (int i = 1; i < 20'000; ++i) items.append(",{}");
  const auto text = "{\"first\": " + items + "], \"second\": [{}]}";
  const auto rejected = [&](std::size_t blanks) {  // each blank allows nine bytes more
    const auto read = cdi::read_json<Lists>(text + std::string(blanks, ' '));
    return read ? std::string{} : read.error().where;
  };
  std::size_t too_few = 0;
  std::size_t enough = 200'000;
  REQUIRE(rejected(too_few) == "first");
  REQUIRE(rejected(enough).empty());
  while (enough - too_few > 1) {
    const auto middle = (too_few + enough) / 2;
    (rejected(middle) == "first" ? too_few : enough) = middle;
  }
  CHECK(rejected(enough) == "second");
}
