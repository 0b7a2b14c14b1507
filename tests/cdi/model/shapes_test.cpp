// Tests for include/cdi/model/shapes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/heap_optional.hpp>
#include <cdi/model/shapes.hpp>
#include <cdi/model/type_of.hpp>

#include "../../support/described_types.hpp"

#if __has_include(<memory_resource>)  // libc++ 14 has none
#include <memory_resource>
#endif

namespace {

using cdi::detail::Type;
using cdi::detail::type_of;

static_assert(!cdi::detail::List<std::deque<int>>, "its items are not in contiguous memory");
static_assert(!cdi::detail::List<std::vector<bool>>);
static_assert(cdi::detail::List<std::vector<int>> && !cdi::detail::List<std::string>);
static_assert(cdi::detail::Text<std::string> && cdi::detail::Text<std::string_view>);
static_assert(cdi::detail::Dict<std::map<std::string, int>>);
static_assert(cdi::detail::Optional<std::optional<int>> &&
              cdi::detail::Optional<cdi::HeapOptional<Inner>>);
static_assert(cdi::detail::Object<Inner> && cdi::detail::Object<cdi::AnyValue>);
static_assert(cdi::detail::Object<cdi::AnyMember> && !cdi::detail::Object<int>);

TEST_CASE("A text is read and set") {
  std::string text = "a";
  CHECK(type_of<std::string>.text(&text) == "a");
  // g++ 12 warns (-Wrestrict) of a short literal here.
  const std::string other(40, 'b');
  type_of<std::string>.set_text(&text, other);
  CHECK(text == other);
}

TEST_CASE("The items of lists and optionals are replaced by new ones") {
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
  const void* const made = type_of<decltype(maybe)>.make(&maybe, 1);
  CHECK(made == &*maybe);
  CHECK(type_of<decltype(maybe)>.items(&maybe).size == 1);
}

#if __has_include(<memory_resource>)
TEST_CASE("A list keeps its allocator when its items are replaced") {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<int> list(3, 7, &memory);
  type_of<decltype(list)>.make(&list, 2);
  CHECK(list.size() == 2);
  CHECK(list[1] == 0);
  CHECK(list.get_allocator().resource() == &memory);
}
#endif

TEST_CASE("Entries of a dict are visited until the visitor returns false") {
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

}  // namespace
