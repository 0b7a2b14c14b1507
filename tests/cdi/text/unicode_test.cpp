// Tests for include/cdi/text/unicode.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/text/unicode.hpp>

namespace {

using namespace std::string_literals;

TEST_CASE("Every character is appended in UTF-8") {
  struct Row {
    std::uint32_t code;
    std::string utf8;
  };
  for (const auto& row :
       {Row{0, "\0"s}, Row{0x7f, "\x7f"}, Row{0x80, "\xc2\x80"}, Row{0x7ff, "\xdf\xbf"},
        Row{0x800, "\xe0\xa0\x80"}, Row{0xffff, "\xef\xbf\xbf"}, Row{0x10000, "\xf0\x90\x80\x80"},
        Row{0x10ffff, "\xf4\x8f\xbf\xbf"}}) {
    CAPTURE(row.code);
    std::string out = "x";
    cdi::detail::append_utf8(out, row.code);
    CHECK(out == "x" + row.utf8);
    CHECK(cdi::detail::is_utf8(out));
  }
}

TEST_CASE("Hexadecimal digits have a value, other bytes do not") {
  for (int c = 0; c < 256; ++c) {
    const auto found =
        std::string_view{"0123456789abcdef"}.find(cdi::detail::ascii_lower(static_cast<char>(c)));
    const int expected = found == std::string_view::npos ? -1 : static_cast<int>(found);
    CAPTURE(c);
    CHECK(cdi::detail::hex_digit(static_cast<char>(c)) == expected);
  }
}

TEST_CASE("The first byte that YAML does not allow is found") {
  CHECK(cdi::detail::find_odd_characters("").forbidden == std::string_view::npos);
  CHECK(cdi::detail::find_odd_characters("a\t\r\n\xc3\xa9\xf0\x9f\x98\x80").forbidden ==
        std::string_view::npos);
  for (const std::string& bad :
       {"\0"s, "\x01"s, "\x1b"s, "\x7f"s, "\xff"s, "\xc3"s, "\xed\xa0\x80"s}) {
    for (std::size_t size = 0; size < 20; ++size) {
      const auto found = cdi::detail::find_odd_characters(std::string(size, 'x') + bad + "y");
      CHECK(found.forbidden == size);
      CHECK(found.unportable == std::string_view::npos);
    }
  }
}

TEST_CASE("The first character that YAML 1.1 reads differently is found") {
  for (std::uint32_t code = 0x80; code < 0x11000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    CAPTURE(code);
    std::string text = "xy";
    cdi::detail::append_utf8(text, code);
    const bool odd = code < 0xa0 || code == 0x2028 || code == 0x2029 || code == 0xfeff ||
                     code == 0xfffe || code == 0xffff;
    const auto found = cdi::detail::find_odd_characters(text + "\xc2\x80");
    CHECK(found.unportable == (odd ? 2 : text.size()));
    const bool depends = code == 0x85 || code == 0x2028 || code == 0x2029 || code == 0xfeff;
    CHECK(found.rejected == (odd && !depends ? 2 : text.size()));
    CHECK(found.forbidden == std::string_view::npos);
  }
}

TEST_CASE("The message for a forbidden byte names it, and says what to do") {
  const auto said = [](char byte, std::string_view place) {
    const auto [message, advice] = cdi::detail::forbidden_byte(byte, place);
    return message + ": " + advice;
  };
  CHECK(said('\xe9', " x") == "the byte 0xE9 is not UTF-8: save the text as UTF-8");
  CHECK(said('\x1b', " in quotes") ==
        "control character U+001B: remove it, or write \\u001B in quotes");
  CHECK(said('\0', " x") == "control character U+0000: remove it");
}

TEST_CASE("UTF-16 becomes UTF-8; half a character becomes a byte that is not UTF-8") {
  CHECK(cdi::detail::is_utf16("\xff\xfe"));
  CHECK(cdi::detail::is_utf16("\xfe\xff"));
  CHECK_FALSE(cdi::detail::is_utf16("\xef\xbb\xbf"));
  CHECK(cdi::detail::utf8_of_utf16("\xff\xfe"s + "a\0\x0d\x01"s) ==
        "\xef\xbb\xbf"
        "a\xc4\x8d");
  CHECK(cdi::detail::utf8_of_utf16("\xfe\xff\xd8\x3d\xde\x00"s) == "\xef\xbb\xbf\xf0\x9f\x98\x80");
  for (const std::string& bad :
       {"\xfe\xff\xd8\x3d"s, "\xfe\xff\xde\x00"s, "\xfe\xff\x00"s, "\xfe\xff\xd8\x3d\x00\x61"s}) {
    CHECK_FALSE(cdi::detail::is_utf8(cdi::detail::utf8_of_utf16(bad)));
  }
}

}  // namespace
