// Texts one after the other in memory, beside a list of strings.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry/joined_texts.hpp>

#include "../../support/random_numbers.hpp"

namespace {

using cdi::detail::JoinedTexts;
using Strings = std::vector<std::string>;

JoinedTexts joined(const Strings& strings) {
  JoinedTexts out;
  for (const auto& text : strings) out.push_back(text);
  return out;
}

void check_texts(const JoinedTexts& texts, const Strings& expected) {
  REQUIRE(texts.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(texts[i] == expected[i]);
}

/// Up to three texts, some of them empty.
Strings some(RandomNumbers& random) {
  Strings out(random.below(4));
  for (auto& text : out) text.assign(random.below(5), static_cast<char>('a' + random.below(26)));
  return out;
}

}  // namespace

TEST_CASE("Joined texts are found by their index") {
  const Strings strings{"vendor.com/gpu", "", "v/c", std::string(1000, 'x'), ""};
  check_texts(joined(strings), strings);
  check_texts({}, {});
}

TEST_CASE("Joined texts follow one after the other in memory") {
  const auto texts = joined({"one", "two", "three"});
  CHECK(texts[1].data() == texts[0].data() + 3);
  CHECK(texts[2].data() == texts[1].data() + 3);
}

TEST_CASE("Joined texts equal a list of strings after the same random replacements") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    RandomNumbers random{seed};
    Strings expected;
    JoinedTexts texts;
    for (int i = 0; i < 50; ++i) {
      CAPTURE(i);
      const auto size = static_cast<std::uint32_t>(expected.size());
      const auto first = random.below(size + 1);
      const auto last = first + random.below(size - first + 1);
      const auto others = some(random);
      texts.replace(first, last, joined(others));
      expected.erase(expected.begin() + first, expected.begin() + last);
      expected.insert(expected.begin() + first, others.begin(), others.end());
      check_texts(texts, expected);
    }
  }
}
