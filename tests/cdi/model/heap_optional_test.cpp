// Tests for include/cdi/model/heap_optional.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/model/heap_optional.hpp>

using Text = cdi::HeapOptional<std::string>;

static_assert(sizeof(Text) == sizeof(void*));
static_assert(std::is_nothrow_move_constructible_v<Text>);
static_assert(std::is_nothrow_move_assignable_v<Text>);

TEST_CASE("A heap optional is empty, or owns a value") {
  Text none;
  CHECK_FALSE(none);
  CHECK_FALSE(none.has_value());
  const Text one{"one"};
  REQUIRE(one);
  CHECK(*one == "one");
  CHECK(one->size() == 3);

  Text copy = one;
  *copy += "!";
  CHECK(*one == "one");
  CHECK(*copy == "one!");
  copy = one;
  CHECK(copy == one);
  copy = none;
  CHECK_FALSE(copy);
  copy = one;
  Text& same = copy;
  copy = same;
  CHECK(*copy == "one");
}

TEST_CASE("A heap optional that was moved from is empty") {
  Text one{"one"};
  const Text moved = std::move(one);
  CHECK(*moved == "one");
  CHECK_FALSE(one);  // that is the point
  one = "two";
  CHECK(*one == "two");
}

TEST_CASE("A heap optional is set, reset and compared like an optional") {
  Text text;
  text.emplace().append("x");
  CHECK(text == Text{"x"});
  CHECK(text != Text{"y"});
  CHECK(text != Text{});
  CHECK(Text{} == Text{});
  text.emplace();
  CHECK(text == Text{""});
  text.reset();
  CHECK_FALSE(text);
  text = {"a"};
  CHECK(*text == "a");
}
