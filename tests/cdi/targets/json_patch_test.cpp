// Tests for include/cdi/targets/json_patch.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/any_value.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/targets/json_patch.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

namespace {

using cdi::detail::JsonPatch;

/// A record of a number.
struct Number {
  std::uint32_t value;

  operator cdi::detail::JsonRecord() const {
    return {&value, cdi::detail::table_of<std::uint32_t>()};
  }
};

/// A text after `change(changes)`.
template <class Change>
std::string changed(std::string_view text, Change change) {
  const auto document = cdi::parse_json(text);
  REQUIRE_MESSAGE(document, (document ? "" : to_string(document.error())));
  JsonPatch changes{*document};
  change(changes);
  return changes.text();
}

}  // namespace

TEST_CASE("Without changes the text stays as it is") {
  const std::string_view texts[] = {"{}", " { } \n", "{\"a\" :[ 1,2 ],\n\t\"b\":{}}"};
  for (const auto text : texts) {
    CHECK(changed(text, [](JsonPatch&) {}) == text);
  }
}

TEST_CASE("A member is replaced in its place, or added behind the last") {
  const auto set = [](std::string_view text) {
    return changed(text, [](JsonPatch& changes) {
      changes.set(JsonPatch::root, "a", Number{7});
      changes.set(JsonPatch::root, "b", Number{8});
    });
  };
  CHECK(set("{}") == R"({"a":7,"b":8})");
  CHECK(set(R"({"x":1})") == R"({"x":1,"a":7,"b":8})");
  CHECK(set(R"({"b":[1,{}],"x":1 , "a":null})") == R"({"b":8,"x":1 , "a":7})");
  CHECK(set("{\n  \"b\": 1\n}\n") == "{\n  \"b\": 8,\n  \"a\": 7\n}\n");
}

TEST_CASE("A new value is laid out like the text") {
  const auto value = cdi::parse_json(R"({"a":[1,"x,:{"],"b":{},"c":[]})");
  cdi::AnyValue any;
  cdi::detail::read_any(value->root(), &any, cdi::detail::table_of<cdi::AnyValue>());
  const auto set = [&](std::string_view text) {
    return changed(text, [&](JsonPatch& changes) {
      changes.set(JsonPatch::root, "x", {&any, cdi::detail::table_of<cdi::AnyValue>()});
    });
  };
  CHECK(set(R"({"x":1})") == R"({"x":{"a":[1,"x,:{"],"b":{},"c":[]}})");
  CHECK(set(R"({"x": 1})") == R"({"x": {"a": [1, "x,:{"], "b": {}, "c": []}})");
  CHECK(set(R"({ "x": 1 })") == R"({ "x": {"a": [1, "x,:{"], "b": {}, "c": []} })");
  CHECK(set("{\n \"x\": 1\n}") ==
        "{\n \"x\": {\n  \"a\": [\n   1,\n   \"x,:{\"\n  ],\n  \"b\": {},\n  \"c\": []\n }\n}");
  CHECK(set("{\r\n\t\"x\":1}") ==
        "{\r\n\t\"x\":{\r\n\t\t\"a\":[\r\n\t\t\t1,\r\n\t\t\t\"x,:{\"\r\n\t\t],"
        "\r\n\t\t\"b\":{},\r\n\t\t\"c\":[]\r\n\t}}");
}

TEST_CASE("New values of one text have the blanks of their places") {
  CHECK(changed("{\n \"a\": [\n      1],\n \"b\": [ 2 ], \"c\": {}\n}",
                [](JsonPatch& changes) {
                  const std::vector<std::uint32_t> two{3, 4};
                  const cdi::detail::JsonRecord record{
                      &two, cdi::detail::table_of<std::vector<std::uint32_t>>()};
                  changes.append(changes.list(JsonPatch::root, "a"), record);
                  changes.append(changes.list(JsonPatch::root, "b"), record);
                  changes.set(changes.object(JsonPatch::root, "c"), "d", record);
                }) ==
        "{\n \"a\": [\n      1,\n      [\n       3,\n       4\n      ]],\n \"b\": [ 2, [3, 4] ], "
        "\"c\": {\n  \"d\": [\n   3,\n   4\n  ]\n }\n}");
}

TEST_CASE("The last value that a member is given counts") {
  const auto twice = [](std::string_view text) {
    return changed(text, [](JsonPatch& changes) {
      for (const std::uint32_t i : {10U, 2U}) changes.set(JsonPatch::root, "a", Number{i});
      changes.set(JsonPatch::root, "b", Number{3});
    });
  };
  CHECK(twice(R"({"z":0})") == R"({"z":0,"a":2,"b":3})");
  CHECK(twice(R"({"a":0, "z":0})") == R"({"a":2, "z":0,"b":3})");
}

TEST_CASE("Objects and lists that are missing or null are created, once") {
  const auto deep = [](std::string_view text) {
    return changed(text, [](JsonPatch& changes) {
      for (const std::uint32_t i : {1U, 2U}) {
        const auto inner = changes.object(changes.object(JsonPatch::root, "a"), "b");
        changes.append(changes.list(inner, "c"), Number{i});
      }
    });
  };
  CHECK(deep("{}") == R"({"a":{"b":{"c":[1,2]}}})");
  CHECK(deep(R"({"a":null,"z":0})") == R"({"a":{"b":{"c":[1,2]}},"z":0})");
  CHECK(deep(R"({"a":{"b":{"c":null,"z":0}}})") == R"({"a":{"b":{"c":[1,2],"z":0}}})");
  CHECK(deep(R"({"a":{"b":{"c":[ 0 ]}}})") == R"({"a":{"b":{"c":[ 0,1,2 ]}}})");
  CHECK(deep("{\n \"a\": {}\n}") ==
        "{\n \"a\": {\n  \"b\": {\n   \"c\": [\n    1,\n    2\n   ]\n  }\n }\n}");
}

TEST_CASE("Items that stay keep their bytes, and the bytes between them") {
  const std::string_view text = "{\"k\": [ 10 ,  11,\n 12 , 13 ]}";
  const auto with = [&](auto change) {
    return changed(
        text, [&](JsonPatch& changes) { change(changes, changes.list(JsonPatch::root, "k")); });
  };
  CHECK(with([](JsonPatch& changes, JsonPatch::Id list) { changes.append(list, Number{1}); }) ==
        "{\"k\": [ 10 ,  11,\n 12 , 13, 1 ]}");
  CHECK(with([](JsonPatch& changes, JsonPatch::Id list) { changes.assign(list, 1, Number{1}); }) ==
        "{\"k\": [ 10 ,  1,\n 12 , 13 ]}");
  CHECK(with([](JsonPatch& changes, JsonPatch::Id list) {
          const std::size_t order[] = {0, 2, 3};
          changes.rearrange(list, order);
        }) == "{\"k\": [ 10, 12 , 13 ]}");
  CHECK(with([](JsonPatch& changes, JsonPatch::Id list) {
          changes.append(list, Number{1});
          const std::size_t order[] = {4, 3, 0, 1};
          changes.rearrange(list, order);
          CHECK(changes.size(list) == 4);
          CHECK(changes.item(list, 1).text() == "13");
        }) == "{\"k\": [ 1, 13, 10 ,  11 ]}");
  CHECK(with([](JsonPatch& changes, JsonPatch::Id list) { changes.rearrange(list, {}); }) ==
        "{\"k\": []}");
}

TEST_CASE("An object is empty until it has a member") {
  changed(R"({"a":{},"b":{"c":1},"d":null})", [](JsonPatch& changes) {
    const auto a = changes.object(JsonPatch::root, "a");
    CHECK(changes.is_empty(a));
    CHECK_FALSE(changes.is_empty(changes.object(JsonPatch::root, "b")));
    CHECK(changes.is_empty(changes.object(JsonPatch::root, "d")));
    changes.set(a, "x", Number{1});
    CHECK_FALSE(changes.is_empty(a));
  });
}

TEST_CASE("Keys are compared as they read, and written as JSON") {
  CHECK(changed(R"({"\u0061":1})", [](JsonPatch& changes) {
          changes.set(JsonPatch::root, "a", Number{7});
          changes.set(JsonPatch::root, "\"", Number{8});
        }) == R"({"\u0061":7,"\"":8})");
}

TEST_CASE("Members of an object are sorted by key, without those that are null") {
  changed(R"({"o":{"\u0062":1,"a":2,"c":null,"":4},"n":null})", [](JsonPatch& changes) {
    std::string shown;
    for (const auto& [key, value] : changes.sorted_members(changes.object(JsonPatch::root, "o"))) {
      shown.append(key).append("=").append(changes.source_of(value)).append(" ");
    }
    CHECK(shown == "=4 a=2 b=1 ");
    CHECK(changes.sorted_members(changes.object(JsonPatch::root, "n")).empty());
  });
}
