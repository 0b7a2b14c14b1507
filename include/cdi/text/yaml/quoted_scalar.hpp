// YAML scalars in single or double quotes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_QUOTED_SCALAR_HPP
#define CDI_TEXT_YAML_QUOTED_SCALAR_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a quoted scalar. Lines are folded; double quotes allow escapes.
class YamlQuotedScalarReader {
 public:
  YamlQuotedScalarReader(YamlCursor& cursor, std::string& decoded)
      : cursor_{cursor}, decoded_{decoded}, begin_{cursor.at()} {}

  /// Reads the scalar here. Returns false if the text is rejected.
  bool read(YamlScalar& out) {
    const char quote = cursor_.peek();
    if (read_simple(out, quote)) return true;
    return quote == '\'' ? read_single() : read_double();
  }

 private:
  bool not_closed() {
    return cursor_.reject("the text that begins here is not closed", "close the quotes", begin_);
  }

  /// Reads up to the first character that must be decoded. Returns true if there is none.
  bool read_simple(YamlScalar& out, char quote) {
    out.quoted = true;
    cursor_.move(1);
    out.begin = cursor_.at();
    for (; !cursor_.is_line_end(); cursor_.move(1)) {
      if (cursor_.peek() == quote) {
        if (quote == '\'' && cursor_.peek(1) == quote) break;
        out.size = cursor_.at() - out.begin;
        cursor_.move(1);
        return true;
      }
      if (cursor_.peek() == '\\' && quote == '"') break;
    }
    auto text = cursor_.text_from(out.begin);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    cursor_.move_to(out.begin + text.size());  // back to trailing blanks, which may be folded
    decoded_.assign(text);
    out.is_decoded = true;
    return false;
  }

  bool read_single() {
    while (true) {
      const std::size_t begin = cursor_.at();
      while (!cursor_.is_blank_or_end() && cursor_.peek() != '\'') cursor_.move(1);
      decoded_.append(cursor_.text_from(begin));
      if (cursor_.peek() != '\'') {
        if (!fold()) return false;
      } else if (cursor_.peek(1) == '\'') {
        decoded_.push_back('\'');
        cursor_.move(2);
      } else {
        cursor_.move(1);
        return true;
      }
    }
  }

  bool read_double() {
    while (true) {
      const std::size_t begin = cursor_.at();
      while (!cursor_.is_blank_or_end() && cursor_.peek() != '"' && cursor_.peek() != '\\') {
        cursor_.move(1);
      }
      decoded_.append(cursor_.text_from(begin));
      if (cursor_.peek() == '"') {
        cursor_.move(1);
        return true;
      }
      if (cursor_.peek() == '\\' ? !read_escape() : !fold()) return false;
    }
  }

  /// Reads blanks or line ends; appends the blanks, or the folded line ends.
  bool fold() {
    const std::size_t begin = cursor_.at();
    cursor_.skip_blanks();
    if (cursor_.at_end()) return not_closed();
    if (!cursor_.is_line_end()) {
      decoded_.append(cursor_.text_from(begin));
      return true;
    }
    std::size_t line_ends = 0;
    if (!skip_line_ends(line_ends)) return false;
    append_folded(decoded_, line_ends);
    return true;
  }

  /// Skips line ends and the blanks at the start of lines.
  bool skip_line_ends(std::size_t& line_ends) {
    for (; cursor_.is_line_end(); ++line_ends) {
      if (cursor_.at_end()) return not_closed();
      cursor_.next_line();
      if (cursor_.is_any_marker()) return not_closed();
      cursor_.skip_blanks();
    }
    cursor_.take_fresh();
    return true;
  }

  bool read_escape() {
    const std::size_t begin = cursor_.at();
    cursor_.move(1);
    if (cursor_.at_end()) return not_closed();
    if (cursor_.is_line_end()) {  // an escaped line end joins the lines without a blank
      std::size_t line_ends = 0;
      if (!skip_line_ends(line_ends)) return false;
      decoded_.append(line_ends - 1, '\n');
      return true;
    }
    const char name = cursor_.peek();
    cursor_.move(1);
    if (name == '/') cursor_.note_unportable(begin, unportable_slash, advice_on_slash);
    if (name == 'x') return read_code(begin, 2);
    if (name == 'u') return read_code(begin, 4);
    if (name == 'U') return read_code(begin, 8);
    return append_escape(name) || cursor_.reject("invalid escape sequence in double quotes",
                                                 "write \\\\ for a backslash", begin);
  }

  bool append_escape(char name) {
    constexpr std::string_view names = "abtnvfre \"'/\\\t";
    constexpr std::string_view meant = "\a\b\t\n\v\f\r\x1b \"'/\\\t";
    if (const auto which = names.find(name); which != names.npos) {
      decoded_.push_back(meant[which]);
      return true;
    }
    switch (name) {
      case '0': decoded_.push_back('\0'); return true;
      case 'N': append_utf8(decoded_, 0x85); return true;
      case '_': append_utf8(decoded_, 0xa0); return true;
      case 'L': append_utf8(decoded_, 0x2028); return true;
      case 'P': append_utf8(decoded_, 0x2029); return true;
      default: return false;
    }
  }

  bool read_code(std::size_t begin, std::size_t digits) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i, cursor_.move(1)) {
      const int digit = hex_digit(cursor_.peek());
      if (digit < 0) {
        return cursor_.reject("an escape needs " + std::to_string(digits) + " hexadecimal digits",
                              begin);
      }
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return cursor_.reject("the escape is not a character", "write the character itself", begin);
    }
    append_utf8(decoded_, code);
    return true;
  }

  YamlCursor& cursor_;
  std::string& decoded_;
  std::size_t begin_;  // start of the scalar
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_QUOTED_SCALAR_HPP
