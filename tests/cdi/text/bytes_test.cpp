// Tests for include/cdi/text/bytes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/bytes.hpp>

namespace {

using namespace cdi::detail;

/// A word that has a byte at a place, and `x` elsewhere.
std::uint64_t word_with(unsigned char byte, std::size_t at) {
  std::string text(8, 'x');
  text[at] = static_cast<char>(byte);
  return load_word(text.data());
}

TEST_CASE("The first byte of a word is the first of the text, on all machines") {
  CHECK(load_word("\x01\0\0\0\0\0\0\x02") == 0x0200000000000001);
  CHECK(first_byte(0) == 8);
  for (std::size_t at = 0; at < 8; ++at)
    CHECK(first_byte(word_with('y', at) ^ eight_of('x')) == at);
}

TEST_CASE("Bytes are marked by their value, and where they end the plain part of a string") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    CAPTURE(byte);
    for (std::size_t at = 0; at < 8; ++at) {
      const auto word = word_with(static_cast<unsigned char>(byte), at);
      CHECK(first_byte(mark_equal(word, '"')) == (byte == '"' ? at : 8));
      CHECK(first_byte(mark_below(word, '!')) == (byte < '!' ? at : 8));
      const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
      CHECK(first_byte(mark_string_end(word)) == (plain ? 8 : at));
    }
  }
}

TEST_CASE("Bytes are counted, however many there are") {
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 4080U, 4081U, 10'000U}) {
    CAPTURE(size);
    CHECK(count_byte(std::string(size, 'a'), 'a') == size);
    CHECK(count_byte(std::string(size, 'a'), 'b') == 0);
    std::string text(size, 'b');
    std::size_t expected = 0;
    for (std::size_t i = 0; i < size; i += 3, ++expected) text[i] = 'a';
    CHECK(count_byte(text, 'a') == expected);
  }
}

TEST_CASE("Printable ASCII and LF are counted up to any other byte, wherever it is") {
  for (std::size_t size = 0; size < 40; ++size) {
    for (int c = 0; c < 256; ++c) {
      const std::string text = std::string(size, '~') + static_cast<char>(c) + std::string(20, ' ');
      const bool simple = (c >= 0x20 && c < 0x7f) || c == '\n';
      CHECK(count_simple(text) == (simple ? text.size() : size));
    }
  }
}

// As printed by `xxhsum -H64`.
TEST_CASE("The hash of a text is XXH64") {
  CHECK(hash_bytes("") == 0xef46db3751d8e999);
  CHECK(hash_bytes("a") == 0xd24ec4f1a98c6e5b);
  CHECK(hash_bytes("vendor.com/gpu=0") == 0xaa458523ce08cb1d);
  CHECK(hash_bytes("01234567890123456789012345678901") == 0xe5cc9f411ea110ba);
  CHECK(hash_bytes(R"({"cdiVersion":"1.1.0","kind":"vendor.com/gpu","devices":[]})") ==
        0x06797494ee6675c8);
}

// Once, the same change at two places that are 8 or 28 bytes apart gave the same hash.
TEST_CASE("Texts that differ in one or two bytes, or in their size, have different hashes") {
  std::set<std::uint64_t> hashes;
  std::size_t texts = 0;
  for (const std::size_t size : {0U, 1U, 31U, 32U, 33U, 100U}) {
    std::string text(size, '2');
    CHECK(hash_bytes(text) == hash_bytes(std::string(size, '2')));
    hashes.insert(hash_bytes(text));
    ++texts;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = i; j < size; ++j) {
        for (const char digit : {'3', '6', 'r'}) {
          text[i] = text[j] = digit;
          hashes.insert(hash_bytes(text));
          text[i] = text[j] = '2';
          ++texts;
        }
      }
    }
  }
  CHECK(hashes.size() == texts);
}

}  // namespace
