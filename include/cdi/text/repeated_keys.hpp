// Finds repeated keys, and removes all but the first.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_REPEATED_KEYS_HPP
#define CDI_TEXT_REPEATED_KEYS_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
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

/// Moves a key down in a heap of the first `size` keys, until no key below it follows it. Unlike
/// `order_of`, this sorts in place.
template <class TextOf>
void sink(std::vector<std::uint32_t>& keys, std::size_t at, std::size_t size,
          const TextOf& text_of) {
  for (std::size_t below = 2 * at + 1; below < size; below = 2 * at + 1) {
    if (below + 1 < size && detail::is_key_before(keys[below], keys[below + 1], text_of)) ++below;
    if (!detail::is_key_before(keys[at], keys[below], text_of)) return;
    std::swap(keys[at], keys[below]);
    at = below;
  }
}

/// A key with the same text as an earlier key, or null. Sorts long lists by text.
template <class TextOf>
const std::uint32_t* find_repeated(std::vector<std::uint32_t>& keys, const TextOf& text_of) {
  constexpr std::size_t few = 12;
  if (keys.size() <= few) return detail::find_repeated_of_few(keys, text_of);
  for (std::size_t i = keys.size() / 2; i > 0; --i) detail::sink(keys, i - 1, keys.size(), text_of);
  for (std::size_t last = keys.size() - 1; last > 0; --last) {
    std::swap(keys[0], keys[last]);
    detail::sink(keys, 0, last, text_of);
  }
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (text_of(keys[i - 1]) == text_of(keys[i])) return &keys[i];
  }
  return nullptr;
}

/// Removes every key with the same text as a preceding key. The keys may be in any order.
template <class TextOf>
void keep_first_of_repeated(std::vector<std::uint32_t>& keys, const TextOf& text_of) {
  const auto first = detail::first_of_equals(keys.size(), [&](std::size_t a, std::size_t b) {
    return text_of(keys[a]) < text_of(keys[b]);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (first[i] == i) keys[kept++] = keys[i];
  }
  keys.resize(kept);
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_REPEATED_KEYS_HPP
