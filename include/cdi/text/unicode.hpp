// Handling of UTF-8 and UTF-16 for the parsers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_UNICODE_HPP
#define CDI_TEXT_UNICODE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Appends the character with a given code point, in UTF-8.
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

/// Counts the characters of a UTF-8 text.
inline std::size_t count_characters(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

/// The value of a hexadecimal digit, or -1 for other characters.
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Whether a character ends a line in YAML 1.1, but not in YAML 1.2 or JSON: NEL and the line and
/// paragraph separators.
inline bool ends_old_line(std::string_view character) noexcept {
  return character == "\xC2\x85" || character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

/// Whether a character is U+FEFF: the byte order mark, or a zero-width space inside a text.
inline bool is_zero_width(std::string_view character) noexcept {
  return character == "\xEF\xBB\xBF";
}

/// Whether YAML 1.1 forbids a character, or reads it differently from JSON or YAML 1.2: DEL, the C1
/// controls, line ends, U+FFFE and U+FFFF. The Go reference also misreads U+FEFF at the start of a
/// read buffer.
inline bool is_unportable(std::string_view character) noexcept {
  return character == "\x7F" || (character >= "\xC2\x80" && character <= "\xC2\x9F") ||
         ends_old_line(character) || is_zero_width(character) || character == "\xEF\xBF\xBE" ||
         character == "\xEF\xBF\xBF";
}

/// Whether YAML 1.1 forbids a character for which `is_unportable` is true. Whether a text with
/// another one is rejected depends on what is around it.
inline bool is_rejected(std::string_view character) noexcept {
  return !ends_old_line(character) && !is_zero_width(character);
}

/// The places of characters that YAML forbids, or on which readers disagree.
struct OddCharacters {
  std::size_t forbidden = std::string_view::npos;   ///< the first; the search stops there
  std::size_t unportable = std::string_view::npos;  ///< the first on which readers disagree
  std::size_t rejected = std::string_view::npos;    ///< the first that all YAML 1.1 readers reject
};

/// Finds such characters in a UTF-8 text.
inline OddCharacters find_odd_characters(std::string_view text) noexcept {
  OddCharacters found;
  for (std::size_t i = 0; true;) {
    i += count_simple(text.substr(i));
    if (i >= text.size()) return found;
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\r';  // LF is simple
    const std::size_t size = byte < 0x80 ? 1 : utf8_size(text.substr(i, 4));
    if (control || byte == 0x7f || size == 0) {
      found.forbidden = i;
      return found;
    }
    const auto character = text.substr(i, size);
    if (size > 1 && is_unportable(character)) {
      if (found.unportable == text.npos) found.unportable = i;
      if (found.rejected == text.npos && is_rejected(character)) found.rejected = i;
    }
    i += size;
  }
}

/// Returns `before` followed by the four-digit number of a character in the Basic Multilingual
/// Plane, such as `U+0085`.
inline std::string character_name(std::string_view before, std::string_view character) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const unsigned code = character.size() == 1 ? static_cast<unsigned char>(character.front())
                                              : bmp_code_point(character);
  std::string out{before};
  for (const int shift : {12, 8, 4, 0}) out.append(1, digits[code >> shift & 15]);
  return out;
}

/// What is wrong with a character, and what to do about it.
struct CharacterFault {
  std::string message;
  std::string advice;
};

/// The reason why a text cannot contain a byte: invalid UTF-8 or a control character. `place` is
/// where an escape may be written.
inline CharacterFault forbidden_byte(char byte, std::string_view place) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const std::string_view character{&byte, 1};
  const auto code = static_cast<unsigned char>(byte);
  if (code >= 0x80) {
    std::string message = "the byte 0x";
    message.append({digits[code >> 4], digits[code & 15]}).append(" is not UTF-8");
    return {std::move(message), "save the text as UTF-8"};
  }
  auto name = character_name("control character U+", character);
  if (code == 0) return {std::move(name), "remove it"};  // specs must not contain NUL
  return {std::move(name), "remove it, or write " + character_name("\\u", character).append(place)};
}

/// The message for the escape `\/`, which JSON and YAML 1.2 define, but YAML 1.1 does not.
inline constexpr std::string_view unportable_slash =
    "\\/ is rejected by the Go reference, and thus by most engines";
inline constexpr std::string_view advice_on_slash = "write / alone";

/// How the Go reference reads a character for which `is_unportable` is true. `place` is where an
/// escape may be written.
inline CharacterFault unportable_character(std::string_view character, std::string_view place) {
  auto message = character_name("U+", character);
  message
      .append(ends_old_line(character)   ? " is read as a line break by"
              : is_zero_width(character) ? " can be misread by"
                                         : " is rejected by")
      .append(" the Go reference, and thus by most engines");
  return {std::move(message),
          "remove it, or write " + character_name("\\u", character).append(place)};
}

/// The code of `Document::Unportable` for such a character.
inline Errc code_of_unportable(std::string_view character) noexcept {
  return is_rejected(character) ? Errc::syntax : Errc::unsupported;
}

/// Whether a text begins with a UTF-16 byte order mark.
inline bool is_utf16(std::string_view text) noexcept {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

/// Stands for an incomplete UTF-16 character. This byte never occurs in UTF-8.
inline constexpr char half_character = '\xFF';

/// Converts UTF-16 with a byte order mark to UTF-8 with its mark. Half a surrogate pair, or half a
/// unit, becomes `half_character`.
inline std::string utf8_of_utf16(std::string_view text) {
  const std::size_t high = text.starts_with("\xFE\xFF") ? 0 : 1;
  const auto unit = [&](std::size_t i) -> std::uint32_t {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i + high])) << 8 |
           static_cast<unsigned char>(text[i + 1 - high]);
  };
  std::string out;
  out.reserve(text.size() / 2 * 3);
  std::size_t i = 0;
  for (; i + 1 < text.size(); i += 2) {
    std::uint32_t code = unit(i);
    const bool pair =
        code >= 0xd800 && code < 0xdc00 && i + 3 < text.size() && (unit(i + 2) & 0xfc00) == 0xdc00;
    if (pair) {
      i += 2;
      code = 0x10000 + ((code - 0xd800) << 10) + (unit(i) - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000) {
      out.push_back(half_character);
    } else {
      append_utf8(out, code);
    }
  }
  if (i < text.size()) out.push_back(half_character);
  return out;
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_UNICODE_HPP
