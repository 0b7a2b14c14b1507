// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_UNICODE_HPP
#define CDI_UNICODE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <cdi/document.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Appends a character, given by its number, in UTF-8.
inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto last = [](std::uint32_t bits) {
    return static_cast<char>(0x80 | (bits & 0x3f));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code >> 6));
    out.push_back(last(code));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code >> 12));
    out.push_back(last(code >> 6));
    out.push_back(last(code));
  } else {
    out.push_back(static_cast<char>(0xf0 | code >> 18));
    out.push_back(last(code >> 12));
    out.push_back(last(code >> 6));
    out.push_back(last(code));
  }
}

/// The value of a hexadecimal digit, or -1.
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The number of bytes at the front that are printable ASCII: eight at a time.
inline std::size_t count_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    const std::uint64_t below = (word - 0x20 * ones) & ~word;  // of a byte under 0x20
    const std::uint64_t above = word | (word + ones);          // of a byte over 0x7e
    if (((below | above) & (0x80 * ones)) != 0) break;
  }
  while (i < text.size() && text[i] >= 0x20 && text[i] < 0x7f) ++i;
  return i;
}

/// The first byte of a text in UTF-8 that YAML does not allow; `npos` when there is none.
inline std::size_t find_forbidden(std::string_view text) noexcept {
  std::size_t i = 0;
  while (true) {
    i += count_ascii(text.substr(i));
    if (i >= text.size()) return text.npos;
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    const std::size_t size = byte < 0x80 ? 1 : utf8_size(text.substr(i, 4));
    if (control || byte == 0x7f || size == 0) return i;
    i += size;
  }
}

/// Whether a text is UTF-16, told by its byte order mark.
inline bool is_utf16(std::string_view text) noexcept {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

/// A text in UTF-16 with a byte order mark, in UTF-8. Half a pair, or half a unit, becomes a byte
/// that UTF-8 does not have.
inline std::string utf8_of_utf16(std::string_view text) {
  const std::size_t high = text.starts_with("\xFE\xFF") ? 0 : 1;
  const auto unit = [&](std::size_t i) -> std::uint32_t {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i + high])) << 8 |
           static_cast<unsigned char>(text[i + 1 - high]);
  };
  constexpr char no_character = '\xFF';
  std::string out;
  out.reserve(text.size() / 2 * 3);
  std::size_t i = 2;
  for (; i + 1 < text.size(); i += 2) {
    std::uint32_t code = unit(i);
    const bool pair =
        code >= 0xd800 && code < 0xdc00 && i + 3 < text.size() && (unit(i + 2) & 0xfc00) == 0xdc00;
    if (pair) {
      i += 2;
      code = 0x10000 + ((code - 0xd800) << 10) + (unit(i) - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000) {
      out.push_back(no_character);
    } else {
      append_utf8(out, code);
    }
  }
  if (i < text.size()) out.push_back(no_character);
  return out;
}

}  // namespace detail

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_UNICODE_HPP
