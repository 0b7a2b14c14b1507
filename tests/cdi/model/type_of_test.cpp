// Tests for include/cdi/model/type_of.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/heap_optional.hpp>
#include <cdi/model/type_of.hpp>

#include "../../support/described_types.hpp"

namespace {

using cdi::detail::Shape;
using cdi::detail::Type;
using cdi::detail::type_of;

enum class Level : std::uint8_t { low, high };
enum class Offset : std::int8_t { back = -1, none, forth };

struct First {
  virtual ~First() = default;
};

/// A type with members of a base, which is behind another base.
struct Derived : First, Inner {
  int own = 0;

  static constexpr void fields(auto& list) {
    list("number", &Derived::number);
    list("maybe", &Derived::maybe, cdi::required);
    list("own", &Derived::own);
  }
};

/// A type that keeps unknown members.
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
static_assert(shape_of<std::string> == Shape::text && shape_of<std::string_view> == Shape::text);
static_assert(shape_of<std::vector<std::string>> == Shape::list);
static_assert(shape_of<std::map<std::string, int>> == Shape::dict);
static_assert(shape_of<std::optional<int>> == Shape::optional);
static_assert(shape_of<cdi::HeapOptional<Inner>> == Shape::optional);
static_assert(shape_of<Outer> == Shape::object && shape_of<cdi::AnyValue> == Shape::any_value);
static_assert(shape_of<cdi::AnyMember> == Shape::any_member);
static_assert(type_of<std::vector<Inner>>.item == &type_of<Inner>);
static_assert(type_of<Outer>.extra == nullptr);
static_assert(type_of<Open>.extra == &type_of<cdi::ExtraOf<cdi::Borrowed>>);

TEST_CASE("The rows of an object are its fields, in order, with their traits") {
  const Type& type = type_of<Outer>;
  REQUIRE(type.field_count == 5);
  CHECK(type.size == sizeof(Outer));
  CHECK(type.fields[0].key == "name");
  CHECK(type.fields[0].when == cdi::Presence::required);
  CHECK(type.fields[1].when == cdi::Presence::keep_empty);
  CHECK(type.fields[1].lifetime.since == cdi::SpecVersion{1, 0, 0});
  CHECK(type.fields[1].type == &type_of<Inner>);
  CHECK(type.fields[2].lifetime.since == cdi::SpecVersion{0, 7, 0});
  CHECK(type.fields[3].type == &type_of<bool>);
}

TEST_CASE("An object has the places of its members, then the place of unknown ones") {
  Outer outer;
  cdi::detail::FieldPointers pointers;
  type_of<Outer>.pointers(&outer, pointers);
  CHECK(pointers[0] == &outer.name);
  CHECK(pointers[3] == &outer.flag);
  CHECK(pointers[4] == &outer.inners);
  Open open;
  type_of<Open>.pointers(&open, pointers);
  CHECK(pointers[0] == &open.known);
  CHECK(pointers[1] == &open.extra);
}

TEST_CASE("The member of a base is found in the base") {
  Derived derived;
  cdi::detail::FieldPointers pointers;
  type_of<Derived>.pointers(&derived, pointers);
  CHECK(pointers[0] == &derived.number);
  CHECK(pointers[1] == &derived.maybe);
  CHECK(pointers[2] == &derived.own);
}

TEST_CASE("Members of any name are told from values, which a field list may name") {
  using cdi::detail::HoldsAnyMembers;
  CHECK(HoldsAnyMembers<cdi::ExtraOf<cdi::Owning>>);
  CHECK_FALSE(HoldsAnyMembers<std::vector<cdi::AnyValue>>);
  CHECK_FALSE(HoldsAnyMembers<std::string>);
  CHECK_FALSE(HoldsAnyMembers<int>);
}

TEST_CASE("A member is empty when it need not be written") {
  CHECK(cdi::is_empty(0));
  CHECK_FALSE(cdi::is_empty(-1));
  CHECK_FALSE(cdi::is_empty(std::int64_t{1} << 40));
  CHECK(cdi::is_empty(false));
  CHECK_FALSE(cdi::is_empty(true));
  CHECK(cdi::is_empty(std::optional<int>{}));
  CHECK_FALSE(cdi::is_empty(std::optional<int>{0}));  // there, even if zero
  CHECK(cdi::is_empty(std::string_view{}));
  CHECK_FALSE(cdi::is_empty(std::string_view{" "}));
  CHECK(cdi::is_empty(cdi::AnyValue{}));
  CHECK_FALSE(cdi::is_empty(cdi::AnyValue{.kind = cdi::ValueKind::map}));
}

TEST_CASE("A described type is empty when all its fields are, at any depth") {
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
