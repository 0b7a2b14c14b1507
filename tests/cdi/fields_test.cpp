// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/fields.hpp>

namespace {

using cdi::Field;
using cdi::Presence;
using cdi::Release;

struct Inner {
  int number = 0;
  std::optional<int> maybe{};

  static constexpr auto fields() {
    return std::tuple{Field{"number", &Inner::number}, Field{"maybe", &Inner::maybe}};
  }
};

struct Outer {
  std::string name{};
  Inner inner{};
  std::vector<int> list{};
  bool flag = false;

  static constexpr auto fields() {
    return std::tuple{
        Field{"name", &Outer::name, cdi::required},
        Field{"inner", &Outer::inner, Presence::keep_empty, Release{1, 0, 0}},
        Field{"list", &Outer::list, Release{0, 7, 0}},
        Field{"flag", &Outer::flag},
    };
  }
};

/// A type of someone else's: no field list of its own.
struct Foreign {
  int x = 0;
};

}  // namespace

template <>
struct cdi::Describe<Foreign> {
  static constexpr auto fields() { return std::tuple{Field{"x", &Foreign::x}}; }
};

namespace {

static_assert(cdi::SelfDescribed<Outer> && cdi::Described<Outer> && cdi::Described<const Outer&>);
static_assert(!cdi::SelfDescribed<Foreign> && cdi::Described<Foreign>);
static_assert(!cdi::Described<int> && !cdi::Described<std::string>);

static_assert(Field{"flag", &Outer::flag}.when == Presence::omit_empty);
static_assert(Field{"flag", &Outer::flag}.lifetime.since == Release{0, 3, 0});
static_assert(Field{"flag", &Outer::flag, Release{1, 1, 0}}.lifetime.since == Release{1, 1, 0});
static_assert(Field{"flag", &Outer::flag, Release{1, 1, 0}}.when == Presence::omit_empty);
static_assert(Field{"flag", &Outer::flag, cdi::required}.when == Presence::required);

static_assert(Release{} == Release{0, 3, 0});
static_assert(Release{0, 8, 0} < Release{1, 0, 0} && Release{1, 0, 0} < Release{1, 1, 0});
static_assert(Release{0, 9, 9} < Release{0, 10, 0}, "numbers, not text");
static_assert(Release{1, 1, 0} < Release{1, 1, 1});

static_assert(cdi::detail::TextLike<std::string> && cdi::detail::TextLike<std::string_view>);
static_assert(cdi::detail::ListLike<std::vector<int>> && !cdi::detail::ListLike<std::string>);
static_assert(cdi::detail::DictLike<std::map<std::string, int>>);
static_assert(!cdi::detail::ListLike<std::map<std::string, int>>);
static_assert(cdi::detail::OptionalLike<std::optional<int>>);
static_assert(!cdi::detail::OptionalLike<std::vector<int>>);

static_assert(cdi::is_empty(0) && !cdi::is_empty(-1));
static_assert(cdi::is_empty(false) && !cdi::is_empty(true));
static_assert(cdi::is_empty(std::optional<int>{}));
static_assert(!cdi::is_empty(std::optional<int>{0}), "there, even if zero");
static_assert(cdi::is_empty(std::string_view{}) && !cdi::is_empty(std::string_view{" "}));
static_assert(cdi::is_empty(Inner{}) && !cdi::is_empty(Inner{.number = 1}));
static_assert(!cdi::is_empty(Inner{.maybe = 0}));
static_assert(cdi::is_empty(Foreign{}) && !cdi::is_empty(Foreign{.x = 1}));

TEST_CASE("a described type is empty when all its fields are, at any depth") {
  CHECK(cdi::is_empty(Outer{}));
  CHECK_FALSE(cdi::is_empty(Outer{.name = "a"}));
  CHECK_FALSE(cdi::is_empty(Outer{.inner = {.maybe = 0}}));
  CHECK_FALSE(cdi::is_empty(Outer{.list = {0}}));
  CHECK_FALSE(cdi::is_empty(Outer{.flag = true}));
}

TEST_CASE("fields are visited in document order until one answers no") {
  std::string seen;
  const auto note = [&](const auto& field) {
    seen.append(field.key).append(" ");
    return field.key != "list";
  };
  CHECK_FALSE(cdi::every_field<Outer>(note));
  CHECK(seen == "name inner list ");
  CHECK(cdi::every_field<Inner>([](const auto&) { return true; }));
}

TEST_CASE("a release is written with three numbers") {
  CHECK(to_string(Release{0, 5, 0}) == "0.5.0");
  CHECK(to_string(Release{10, 0, 255}) == "10.0.255");
}

}  // namespace
