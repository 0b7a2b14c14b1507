// Tests for include/cdi/rules/names.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <initializer_list>
#include <list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/names.hpp>

namespace {

using namespace std::string_view_literals;

/// What a function sees that takes names as a value.
std::vector<std::string> seen(cdi::Names names) {
  std::vector<std::string> out;
  names.each([&](std::string_view name) { out.emplace_back(name); });
  return out;
}

/// Like the entries of other programs, a text with more to it.
struct Entry {
  std::string name;
  operator std::string_view() const noexcept { return name; }
};

static_assert(!std::is_convertible_v<std::string, cdi::Names>);
static_assert(!std::is_convertible_v<const char*, cdi::Names>);
static_assert(!std::is_convertible_v<const char (&)[4], cdi::Names>);
static_assert(!std::is_convertible_v<std::vector<int>, cdi::Names>);

}  // namespace

TEST_CASE("Names are made from any range of texts, and from braces") {
  const std::vector<std::string> two{"v.com/c=a", "v.com/c=bbbbbbbbbbbbbbbbbbbbbbbbb"};
  const std::string_view views[] = {two[0], two[1]};
  const char* const c_strings[] = {two[0].c_str(), two[1].c_str()};
  CHECK(seen(two) == two);
  CHECK(seen(std::vector<std::string>{two}) == two);
  CHECK(seen(views) == two);
  CHECK(seen(c_strings) == two);
  CHECK(seen(std::span<const std::string>{two}) == two);
  CHECK(seen(std::array<std::string, 2>{two[0], two[1]}) == two);
  CHECK(seen(std::list<Entry>{{two[0]}, {two[1]}}) == two);
  CHECK(seen(std::set<std::string_view>{two[1], two[0]}) == two);
  CHECK(seen(std::initializer_list<std::string_view>{two[0], two[1]}) == two);
  CHECK(seen(std::initializer_list<const char*>{"a", "b"}) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("Names in braces are texts of any type") {
  const std::string one = "v.com/c=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  const std::vector<std::string> two{one, one};
  CHECK(seen({}).empty());
  CHECK(seen({one}) == std::vector{one});
  CHECK(seen({"a"}) == std::vector<std::string>{"a"});
  CHECK(seen({"a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(seen({one, "b"sv, "c", Entry{"d"}}) == std::vector<std::string>{one, "b", "c", "d"});
  CHECK(seen({one + "1", one + "2", one + "3"}) ==
        std::vector<std::string>{one + "1", one + "2", one + "3"});
  CHECK(seen({two}) == two);  // braces around a range are not a list of ranges
  CHECK(seen(cdi::Names{two}) == two);
}

TEST_CASE("Names can be gone through more than once") {
  const std::vector<std::string> two{"a", "b"};
  const auto twice = [](cdi::Names names) {
    auto out = seen(names);
    for (auto& name : seen(names)) out.push_back(name);
    return out;
  };
  CHECK(twice(two) == std::vector<std::string>{"a", "b", "a", "b"});
  CHECK(twice({"a", "b"}) == std::vector<std::string>{"a", "b", "a", "b"});
}
