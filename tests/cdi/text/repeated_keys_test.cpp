// Tests for include/cdi/text/repeated_keys.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/repeated_keys.hpp>

namespace {

/// The number of a key whose text a key before it has; -1 when all differ.
int repeated(const std::vector<std::string>& texts) {
  std::vector<std::uint32_t> keys(texts.size());
  std::iota(keys.begin(), keys.end(), 0U);
  const auto text_of = [&](std::uint32_t key) -> const std::string& {
    return texts[key];
  };
  const auto* const found = cdi::detail::find_repeated(keys, text_of);
  return found == nullptr ? -1 : static_cast<int>(*found);
}

TEST_CASE("A repeated key is found among few keys and among many") {
  CHECK(repeated({}) == -1);
  CHECK(repeated({"a"}) == -1);
  CHECK(repeated({"a", "A", ""}) == -1);
  CHECK(repeated({"a", "b", "a"}) == 2);
  CHECK(repeated({"a", "a", "b", "b"}) == 1);
  for (const std::size_t size : {12U, 13U, 200U}) {  // 13 and more are sorted
    CAPTURE(size);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size; ++i) texts.push_back(std::to_string(i * 7919 % 1009));
    CHECK(repeated(texts) == -1);
    texts.back() = texts[size / 2];
    CHECK(repeated(texts) == static_cast<int>(size) - 1);
  }
}

TEST_CASE("Of repeated keys the first in the list is kept, in the order of the list") {
  const std::vector<std::string> texts{"b", "a", "b", "c", "a", "d"};
  std::vector<std::uint32_t> keys{4, 0, 5, 1, 2, 3, 2};
  cdi::detail::keep_first_of_repeated(
      keys, [&](std::uint32_t key) -> const std::string& { return texts[key]; });
  CHECK(keys == std::vector<std::uint32_t>{4, 0, 5, 3});
}

}  // namespace
