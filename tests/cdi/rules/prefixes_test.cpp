// Tests for include/cdi/rules/prefixes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/prefixes.hpp>

namespace {

using Indices = std::vector<std::size_t>;

/// The indices of all texts that a text begins with.
Indices found(const cdi::detail::Prefixes& prefixes, std::string_view text) {
  Indices indices;
  CHECK_FALSE(prefixes.any(text, [&](std::size_t i) {
    indices.push_back(i);
    return false;
  }));
  return indices;
}

}  // namespace

TEST_CASE("All texts that begin another are found, the longest first") {
  const cdi::detail::Prefixes prefixes{{"/a/b", "/a", "/a-b", "/c", "/a/b/c", "/a"}};
  CHECK(found(prefixes, "/a/b/c") == Indices{4, 0, 5, 1});
  CHECK(found(prefixes, "/a/b/d") == Indices{0, 5, 1});
  CHECK(found(prefixes, "/a/c") == Indices{5, 1});
  CHECK(found(prefixes, "/a-bc") == Indices{2, 5, 1});
  CHECK(found(prefixes, "/a") == Indices{5, 1});
  CHECK(found(prefixes, "/b").empty());
  CHECK(found(prefixes, "/").empty());
  CHECK(found(prefixes, "").empty());
  CHECK(found({}, "a").empty());
  CHECK(found(cdi::detail::Prefixes{{"", "b"}}, "a") == Indices{0});
}

TEST_CASE("The search ends with the first text that is accepted") {
  const cdi::detail::Prefixes prefixes{{"", "a", "ab", "abc"}};
  Indices asked;
  CHECK(prefixes.any("abcd", [&](std::size_t i) {
    asked.push_back(i);
    return i == 2;
  }));
  CHECK(asked == Indices{3, 2});
}

TEST_CASE("Each pair of short texts") {
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; texts.size() < 121; ++i) {
    for (const char c : {'/', 'a', 'b'}) texts.push_back(texts[i] + c);
  }
  for (std::size_t step = 1; step < 8; ++step) {
    std::vector<std::string> some;
    for (std::size_t i = 0; i < texts.size(); i += step) some.push_back(texts[i]);
    const cdi::detail::Prefixes prefixes{some};
    for (const auto& text : texts) {
      std::size_t expected = 0;
      for (const auto& other : some) {
        if (text.starts_with(other)) ++expected;
      }
      CAPTURE(text);
      CHECK(found(prefixes, text).size() == expected);
    }
  }
}
