// Tests for include/cdi/model/storage.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/storage.hpp>

namespace {

template <class T>
class CountingAllocator : public std::allocator<T> {};

/// A storage of a user.
struct Counted {
  using String = std::basic_string<char, std::char_traits<char>, CountingAllocator<char>>;
  template <class T>
  using List = std::vector<T, CountingAllocator<T>>;
  template <class T>
  using Dict = std::map<String, T, std::less<>>;
};

struct NoText {
  using String = int;
  template <class T>
  using List = std::vector<T>;
  template <class T>
  using Dict = std::map<int, T>;
};

struct NoDict {
  using String = std::string;
  template <class T>
  using List = std::vector<T>;
};

static_assert(cdi::Storage<cdi::Owning>);
static_assert(cdi::Storage<cdi::Borrowed>);
static_assert(cdi::Storage<Counted>);
static_assert(!cdi::Storage<NoText>, "text must be readable as a string_view");
static_assert(!cdi::Storage<NoDict>);
static_assert(!cdi::Storage<int>);

static_assert(std::is_same_v<cdi::StringOf<cdi::Owning>, std::string>);
static_assert(std::is_same_v<cdi::StringOf<cdi::Borrowed>, std::string_view>);
static_assert(std::is_same_v<cdi::ListOf<cdi::Borrowed, int>, std::vector<int>>);

TEST_CASE_TEMPLATE("Maps are looked up by text without making a key", S, cdi::Owning,
                   cdi::Borrowed) {
  cdi::DictOf<S, int> dict;
  dict.emplace("b", 2);
  dict.emplace("a", 1);
  const auto found = dict.find(std::string_view{"b"});
  REQUIRE(found != dict.end());
  CHECK(found->second == 2);
  CHECK(dict.begin()->first == "a");  // in the order of bytes, so that output is stable
}

}  // namespace
