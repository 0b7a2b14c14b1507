// Processing many bytes of a text at once: words of 8 bytes and blocks of 16.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_BYTES_HPP
#define CDI_TEXT_BYTES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include <cdi/version.hpp>

// A test marks a byte of a word by setting its highest bit. Only the first mark is reliable: since
// a subtraction borrows from the next byte, bytes after it may be marked by mistake.

namespace cdi::inline CDI_ABI::detail {

/// Repeats a byte eight times in a word.
constexpr std::uint64_t eight_of(char c) noexcept {
  return std::uint64_t{0x0101010101010101} * static_cast<unsigned char>(c);
}
inline constexpr std::uint64_t all_marks = eight_of('\x80');

/// Loads eight bytes as a word; the first byte becomes the lowest.
inline std::uint64_t load_word(const char* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return std::endian::native == std::endian::big ? __builtin_bswap64(word) : word;
}

/// The index of the first nonzero byte; 8 if all bytes are zero.
inline std::size_t first_byte(std::uint64_t word) noexcept {
  return static_cast<std::size_t>(std::countr_zero(word)) / 8;
}

/// Marks bytes equal to `c`.
constexpr std::uint64_t mark_equal(std::uint64_t word, char c) noexcept {
  const std::uint64_t difference = word ^ eight_of(c);
  return (difference - eight_of('\x01')) & ~difference & all_marks;
}
/// Marks bytes less than `c`, an ASCII character.
constexpr std::uint64_t mark_below(std::uint64_t word, char c) noexcept {
  return (word - eight_of(c)) & ~word & all_marks;
}
/// Marks the bytes that end the plain part of a JSON string: quotes, backslashes and everything
/// except printable ASCII.
constexpr std::uint64_t mark_string_end(std::uint64_t word) noexcept {
  constexpr std::uint64_t one = eight_of('\x01');
  const std::uint64_t quotes = (word ^ eight_of('"')) - one;
  const std::uint64_t backslashes = (word ^ eight_of('\\')) - one;
  const std::uint64_t controls = word - eight_of(' ');
  const std::uint64_t others = word | (word + one);
  return (quotes | backslashes | controls | others) & all_marks;
}

/// The XXH64 hash of a text, with seed 0. Equal texts have equal hashes. Different texts almost
/// never have equal hashes, even if they are similar, unless an attacker chose them.
class TextHash {
 public:
  explicit TextHash(std::string_view text) noexcept : rest_{text} {
    value_ = (text.size() < 4 * sizeof(std::uint64_t) ? p5 : take_blocks()) + text.size();
    for (; rest_.size() >= 8; rest_.remove_prefix(8)) {
      value_ = std::rotl(value_ ^ mixed(0, load_word(rest_.data())), 27) * p1 + p4;
    }
    if (rest_.size() >= 4) {
      char half[8] = {};
      rest_.copy(half, 4);
      value_ = std::rotl(value_ ^ load_word(half) * p1, 23) * p2 + p3;
      rest_.remove_prefix(4);
    }
    for (const char c : rest_) {
      value_ = std::rotl(value_ ^ static_cast<unsigned char>(c) * p5, 11) * p1;
    }
    value_ = (value_ ^ value_ >> 33) * p2;
    value_ = (value_ ^ value_ >> 29) * p3;
    value_ ^= value_ >> 32;
  }

  std::uint64_t value() const noexcept { return value_; }

 private:
  static constexpr std::uint64_t p1 = 0x9e3779b185ebca87;
  static constexpr std::uint64_t p2 = 0xc2b2ae3d27d4eb4f;
  static constexpr std::uint64_t p3 = 0x165667b19e3779f9;
  static constexpr std::uint64_t p4 = 0x85ebca77c2b2ae63;
  static constexpr std::uint64_t p5 = 0x27d4eb2f165667c5;

  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
    return std::rotl(hash + word * p2, 31) * p1;
  }

  /// Hashes all blocks of four words; the processor computes the four in parallel.
  std::uint64_t take_blocks() noexcept {
    std::uint64_t a = p1 + p2, b = p2, c = 0, d = 0 - p1;
    for (; rest_.size() >= 32; rest_.remove_prefix(32)) {
      a = mixed(a, load_word(rest_.data()));
      b = mixed(b, load_word(rest_.data() + 8));
      c = mixed(c, load_word(rest_.data() + 16));
      d = mixed(d, load_word(rest_.data() + 24));
    }
    std::uint64_t all = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    for (const std::uint64_t lane : {a, b, c, d}) all = (all ^ mixed(0, lane)) * p1 + p4;
    return all;
  }

  std::string_view rest_;
  std::uint64_t value_ = 0;
};

inline std::uint64_t hash_bytes(std::string_view text) noexcept {
  return TextHash{text}.value();
}

/// Sixteen bytes. Compilers emit vector instructions for this type, or process each byte. No
/// function returns a block: its calling convention varies by instruction set, so g++ would warn.
using Block = unsigned char __attribute__((vector_size(16)));

inline void load_block(Block& block, const char* from) noexcept {
  std::memcpy(&block, from, sizeof block);
}

/// The sum of sixteen numbers.
inline std::uint64_t sum_of(const Block& numbers) noexcept {
  std::uint64_t words[2];
  std::memcpy(words, &numbers, sizeof words);
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  const auto pairs = [](std::uint64_t word) {
    return (word & even) + (word >> 8 & even);
  };
  return (pairs(words[0]) + pairs(words[1])) * 0x0001000100010001 >> 48;
}

/// Counts the bytes equal to `c`, in at most 4080 bytes.
inline std::uint64_t count_in_part(std::string_view text, char c) noexcept {
  const Block wanted = Block{} + static_cast<unsigned char>(c);
  const char* at = text.data();
  const char* const end = at + text.size();
  Block block;
  Block other;
  Block counts{};
  Block others{};
  for (; end - at >= 32; at += 32) {
    detail::load_block(block, at);
    detail::load_block(other, at + 16);
    counts -= static_cast<Block>(block == wanted);  // subtracts -1 for each equal byte
    others -= static_cast<Block>(other == wanted);
  }
  std::uint64_t count = detail::sum_of(counts) + detail::sum_of(others);
  for (; at != end; ++at) count += *at == c ? 1U : 0U;
  return count;
}

/// Counts the bytes equal to `c`.
inline std::uint64_t count_byte(std::string_view text, char c) noexcept {
  constexpr std::size_t part = 4080;  // so that each of the sixteen counts fits into a byte
  std::uint64_t count = 0;
  for (; text.size() > part; text.remove_prefix(part)) {
    count += detail::count_in_part(text.substr(0, part), c);
  }
  return count + detail::count_in_part(text, c);
}

/// Stores 255 for each byte that is printable ASCII or LF, and 0 for all others.
inline void load_simple(Block& simple, const char* from) noexcept {
  Block block;
  detail::load_block(block, from);
  simple = static_cast<Block>(((block >= ' ') & (block < 0x7f)) | (block == '\n'));
}

/// The index of the first byte other than 255; 16 if there is none.
inline std::size_t first_zero(const Block& block) noexcept {
  char bytes[sizeof block];
  std::memcpy(bytes, &block, sizeof block);
  const std::uint64_t low = ~load_word(bytes);
  return low != 0 ? first_byte(low) : 8 + first_byte(~load_word(bytes + 8));
}

/// Counts the leading bytes that are printable ASCII or LF.
inline std::size_t count_simple(std::string_view text) noexcept {
  std::size_t i = 0;
  Block simple[4];
  for (; i + sizeof simple <= text.size(); i += sizeof simple) {
    const char* from = text.data() + i;
    for (Block& part : simple) {
      detail::load_simple(part, from);
      from += sizeof part;
    }
    const Block all = simple[0] & simple[1] & simple[2] & simple[3];
    if (first_zero(all) < sizeof all) break;
  }
  for (; i + sizeof(Block) <= text.size(); i += sizeof(Block)) {
    detail::load_simple(simple[0], text.data() + i);
    const std::size_t count = first_zero(simple[0]);
    if (count < sizeof(Block)) return i + count;
  }
  while (i < text.size() && ((text[i] >= ' ' && text[i] < 0x7f) || text[i] == '\n')) ++i;
  return i;
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_BYTES_HPP
