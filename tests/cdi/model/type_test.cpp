// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/rare.hpp>
#include <cdi/model/type.hpp>

#include "../../described_types.hpp"

namespace {

using cdi::detail::Shape;
using cdi::detail::Type;
using cdi::detail::type_of;

enum class Level : std::uint8_t { low, high };
enum class Offset : std::int8_t { back = -1, none, forth };

struct First {
  virtual ~First() = default;
};

/// A type with a member that a base has, behind another base.
struct Derived : First, Inner {
  int own = 0;

  static constexpr void fields(auto& list) {
    list("number", &Derived::number);
    list("maybe", &Derived::maybe, cdi::required);
    list("own", &Derived::own);
  }
};

/// A type that keeps what it does not know.
struct Open {
  std::string_view known{};
  cdi::ExtraOf<cdi::Borrowed> extra = cdi::no_items;

  static constexpr void fields(auto& list) { list("known", &Open::known); }
};

template <class T>
constexpr Shape shape_of = type_of<T>.shape;

static_assert(shape_of<bool> == Shape::boolean && shape_of<int> == Shape::integer);
static_assert(shape_of<Level> == Shape::integer && !type_of<Level>.has_sign);
static_assert(shape_of<Offset> == Shape::integer && type_of<Offset>.has_sign);
static_assert(!cdi::detail::List<std::deque<int>>, "its items are not one after the other");
static_assert(!cdi::detail::List<std::vector<bool>>);
static_assert(shape_of<std::string> == Shape::text && shape_of<std::string_view> == Shape::text);
static_assert(shape_of<std::vector<std::string>> == Shape::list);
static_assert(shape_of<std::map<std::string, int>> == Shape::dict);
static_assert(shape_of<std::optional<int>> == Shape::optional);
static_assert(shape_of<cdi::Rare<Inner>> == Shape::optional);
static_assert(shape_of<Outer> == Shape::object && shape_of<cdi::Value> == Shape::value);
static_assert(shape_of<cdi::Member> == Shape::member);
static_assert(type_of<std::vector<Inner>>.item == &type_of<Inner>);
static_assert(type_of<Outer>.extra == nullptr);
static_assert(type_of<Open>.extra == &type_of<cdi::ExtraOf<cdi::Borrowed>>);

/// A type that holds itself, and one that points into others' text.
struct Node {
  std::string name{};
  std::vector<Node> nodes{};

  static constexpr void fields(auto& list) {
    list("name", &Node::name);
    list("nodes", &Node::nodes);
  }
};
struct Pointing {
  std::vector<Node> nodes{};
  std::map<std::string, std::optional<std::string_view>> texts{};

  static constexpr void fields(auto& list) {
    list("nodes", &Pointing::nodes);
    list("texts", &Pointing::texts);
  }
};

using cdi::detail::is_borrowed;
static_assert(!is_borrowed<Node> && is_borrowed<Pointing> && is_borrowed<Open>);
static_assert(is_borrowed<std::string_view> && !is_borrowed<std::string> && !is_borrowed<int>);
static_assert(is_borrowed<cdi::BasicMember<cdi::Borrowed>> && !is_borrowed<cdi::Member>);

/// Stores a number and loads it again.
template <class T>
bool survives(T number) {
  T stored{};
  cdi::detail::store_integer(&stored, type_of<T>, static_cast<std::uint64_t>(number));
  return stored == number &&
         static_cast<T>(cdi::detail::load_integer(&stored, type_of<T>)) == number;
}

template <class T>
bool extremes_survive() {
  using Limits = std::numeric_limits<T>;
  return survives<T>(Limits::min()) && survives<T>(Limits::max()) && survives<T>(0) &&
         survives<T>(1);
}

TEST_CASE("the rows of an object are its fields, in order, with what the list says of them") {
  const Type& type = type_of<Outer>;
  REQUIRE(type.field_count == 5);
  CHECK(type.size == sizeof(Outer));
  CHECK(type.fields[0].key == "name");
  CHECK(type.fields[0].when == cdi::Presence::required);
  CHECK(type.fields[1].when == cdi::Presence::keep_empty);
  CHECK(type.fields[1].lifetime.since == cdi::Release{1, 0, 0});
  CHECK(type.fields[1].type == &type_of<Inner>);
  CHECK(type.fields[2].lifetime.since == cdi::Release{0, 7, 0});
  CHECK(type.fields[3].type == &type_of<bool>);
}

TEST_CASE("the places of an object are those of its members, then of what it does not know") {
  Outer outer;
  cdi::detail::Places places;
  type_of<Outer>.places(&outer, places);
  CHECK(places[0] == &outer.name);
  CHECK(places[3] == &outer.flag);
  CHECK(places[4] == &outer.inners);
  Open open;
  type_of<Open>.places(&open, places);
  CHECK(places[0] == &open.known);
  CHECK(places[1] == &open.extra);
}

TEST_CASE("a member that a base has is where the base is") {
  Derived derived;
  cdi::detail::Places places;
  type_of<Derived>.places(&derived, places);
  CHECK(places[0] == &derived.number);
  CHECK(places[1] == &derived.maybe);
  CHECK(places[2] == &derived.own);
}

TEST_CASE("lists and optionals are made of so many new items") {
  std::vector<Inner> list(3, Inner{.number = 7});
  auto* const first = static_cast<Inner*>(type_of<decltype(list)>.make(&list, 2));
  CHECK(list.size() == 2);
  CHECK(first == list.data());
  CHECK(list[0].number == 0);
  const auto items = type_of<decltype(list)>.items(&list);
  CHECK(cdi::detail::nth(items, 1, type_of<Inner>) == &list[1]);

  std::optional<int> maybe = 1;
  type_of<decltype(maybe)>.make(&maybe, 0);
  CHECK_FALSE(maybe);
  CHECK(type_of<decltype(maybe)>.make(&maybe, 1) == &*maybe);
  CHECK(type_of<decltype(maybe)>.items(&maybe).size == 1);
}

TEST_CASE("a list keeps its allocator when it is made anew") {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<int> list(3, 7, &memory);
  type_of<decltype(list)>.make(&list, 2);
  CHECK(list.size() == 2);
  CHECK(list[1] == 0);
  CHECK(list.get_allocator().resource() == &memory);
}

TEST_CASE("entries of a dict are visited until one says no") {
  std::map<std::string, int, std::less<>> dict{{"a", 1}, {"b", 2}, {"c", 3}};
  const Type& type = type_of<decltype(dict)>;
  std::string seen;
  const auto visit = [](void* context, std::string_view key, void*) {
    static_cast<std::string*>(context)->append(key);
    return key != "b";
  };
  CHECK_FALSE(type.each(&dict, &seen, visit));
  CHECK(seen == "ab");
  *static_cast<int*>(type.insert(&dict, "d")) = 4;
  CHECK(dict["d"] == 4);
  type.make(&dict, 0);
  CHECK(type.items(&dict).size == 0);
}

TEST_CASE("integers of every width keep their value") {
  CHECK(extremes_survive<std::int8_t>());
  CHECK(extremes_survive<std::uint8_t>());
  CHECK(extremes_survive<std::int16_t>());
  CHECK(extremes_survive<std::uint16_t>());
  CHECK(extremes_survive<std::int32_t>());
  CHECK(extremes_survive<std::uint32_t>());
  CHECK(extremes_survive<std::int64_t>());
  CHECK(extremes_survive<std::uint64_t>());
  CHECK(extremes_survive<long long>());
  CHECK(extremes_survive<unsigned long long>());
}

TEST_CASE("a member is empty when a document need not say it") {
  CHECK(cdi::is_empty(0));
  CHECK_FALSE(cdi::is_empty(-1));
  CHECK_FALSE(cdi::is_empty(std::int64_t{1} << 40));
  CHECK(cdi::is_empty(false));
  CHECK_FALSE(cdi::is_empty(true));
  CHECK(cdi::is_empty(std::optional<int>{}));
  CHECK_FALSE(cdi::is_empty(std::optional<int>{0}));  // there, even if zero
  CHECK(cdi::is_empty(std::string_view{}));
  CHECK_FALSE(cdi::is_empty(std::string_view{" "}));
  CHECK(cdi::is_empty(cdi::Value{}));
  CHECK_FALSE(cdi::is_empty(cdi::Value{.kind = cdi::ValueKind::map}));
}

TEST_CASE("a described type is empty when all its fields are, at any depth") {
  CHECK(cdi::is_empty(Inner{}));
  CHECK_FALSE(cdi::is_empty(Inner{.number = 1}));
  CHECK_FALSE(cdi::is_empty(Inner{.maybe = 0}));
  CHECK(cdi::is_empty(Outer{}));
  CHECK_FALSE(cdi::is_empty(Outer{.name = "a"}));
  CHECK_FALSE(cdi::is_empty(Outer{.inner = {.maybe = 0}}));
  CHECK_FALSE(cdi::is_empty(Outer{.items = {0}}));
  CHECK_FALSE(cdi::is_empty(Outer{.flag = true}));
  CHECK_FALSE(cdi::is_empty(Outer{.inners = {{"a", {}}}}));
  CHECK_FALSE(cdi::is_empty(Open{.extra = {{.key = "x"}}}));
}

}  // namespace
