// Finds repeated keys, and removes all but the first.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_REPEATED_KEYS_HPP
#define CDI_TEXT_REPEATED_KEYS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <cdi/version.hpp>

// Keys are numbers in ascending order; `text_of(key)` returns a key's text.

namespace cdi::inline CDI_ABI::detail {

/// Whether key `a` precedes key `b`, by text, then by number.
template <class TextOf>
bool is_key_before(std::uint32_t a, std::uint32_t b, const TextOf& text_of) {
  const int order = text_of(a).compare(text_of(b));
  return order == 0 ? a < b : order < 0;
}

/// The first key with the same text as an earlier key, or null; for short lists.
template <class TextOf>
const std::uint32_t* find_repeated_of_few(const std::vector<std::uint32_t>& keys,
                                          const TextOf& text_of) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const auto text = text_of(keys[i]);
    for (std::size_t k = 0; k < i; ++k) {
      if (text == text_of(keys[k])) return &keys[i];
    }
  }
  return nullptr;
}

/// A key with the same text as an earlier key, or null. Sorts long lists by text.
template <class TextOf>
const std::uint32_t* find_repeated(std::vector<std::uint32_t>& keys, const TextOf& text_of) {
  constexpr std::size_t few = 12;
  if (keys.size() <= few) return detail::find_repeated_of_few(keys, text_of);
  std::sort(keys.begin(), keys.end(),
            [&](std::uint32_t a, std::uint32_t b) { return detail::is_key_before(a, b, text_of); });
  const auto first = std::adjacent_find(
      keys.begin(), keys.end(),
      [&](std::uint32_t a, std::uint32_t b) { return text_of(a) == text_of(b); });
  return first == keys.end() ? nullptr : &first[1];
}

/// Removes every key with the same text as a preceding key. The keys may be in any order.
template <class TextOf>
void keep_first_of_repeated(std::vector<std::uint32_t>& keys, const TextOf& text_of) {
  const auto text_at = [&](std::uint32_t place) {
    return text_of(keys[place]);
  };
  std::vector<std::uint32_t> sorted(keys.size());  // indices into `keys`
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(),
            [&](std::uint32_t a, std::uint32_t b) { return detail::is_key_before(a, b, text_at); });
  std::vector<char> repeated(keys.size());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    repeated[sorted[i]] = text_at(sorted[i]) == text_at(sorted[i - 1]);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!repeated[i]) keys[kept++] = keys[i];
  }
  keys.resize(kept);
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_REPEATED_KEYS_HPP
