// YAML block scalars: indented lines under `|`, which keeps line ends, or `>`, which folds them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_BLOCK_SCALAR_HPP
#define CDI_TEXT_YAML_BLOCK_SCALAR_HPP

#include <cstddef>
#include <string>

#include <cdi/base/order.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a block scalar: a header, followed by lines with the same indentation.
class YamlBlockScalarReader {
 public:
  /// Lines must begin in column `least` or later, and never in column 0.
  YamlBlockScalarReader(YamlCursor& cursor, std::string& decoded, std::size_t least)
      : cursor_{cursor}, decoded_{decoded}, least_{detail::max<std::size_t>(least, 1)} {}

  /// Reads the scalar here. Returns false if the text is rejected.
  bool read(YamlScalar& out) {
    out.quoted = true;
    out.is_decoded = true;
    decoded_.clear();
    if (!read_header()) return false;
    return skip_empty_lines() && read_lines();
  }

 private:
  /// Reads `|` or `>`, and the rest of the line.
  bool read_header() {
    const std::size_t begin = cursor_.at();
    folded_ = cursor_.peek() == '>';
    cursor_.move(1);
    for (int i = 0; i < 2; ++i) {
      const char c = cursor_.peek();
      if ((c == '-' || c == '+') && chomping_ == ' ') {
        chomping_ = c;
        cursor_.move(1);
      } else if (c >= '1' && c <= '9' && column_ == 0) {
        column_ = least_ - 1 + static_cast<std::size_t>(c - '0');
        cursor_.move(1);
      }
    }
    const bool blank = cursor_.is_blank_or_end();
    cursor_.skip_blanks();
    if (blank && cursor_.peek() == '#') cursor_.skip_rest_of_line();
    if (!blank || !cursor_.is_line_end()) {
      return cursor_.reject(
          "expected a line break after | or >; only + or -, and a digit, may precede it", begin);
    }
    if (!cursor_.at_end()) cursor_.next_line();
    return true;
  }

  bool read_lines() {
    bool first = true;
    bool was_indented = false;  // the previous line starts with a blank and is not folded
    while (cursor_.column() == column_ && !cursor_.at_end()) {
      const bool indented = cursor_.is_blank();
      if (!first && folded_ && !was_indented && !indented) {
        append_folded(decoded_, line_ends_);
      } else {
        decoded_.append(line_ends_, '\n');
      }
      first = false;
      was_indented = indented;
      decoded_.append(cursor_.take_line());
      line_ends_ = 0;
      if (cursor_.at_end()) break;
      cursor_.next_line();
      line_ends_ = 1;
      if (!skip_empty_lines()) return false;
    }
    append_last_line_ends();
    return true;
  }

  void append_last_line_ends() {
    if (chomping_ == '+') decoded_.append(line_ends_, '\n');
    if (chomping_ == ' ' && line_ends_ > 0 && !decoded_.empty()) decoded_.push_back('\n');
  }

  /// Skips empty lines and the next line's indentation. That line sets the block's column, unless
  /// the header did.
  bool skip_empty_lines() {
    std::size_t widest = 0;
    while (true) {
      while (cursor_.peek() == ' ' && is_indentation()) cursor_.move(1);
      widest = detail::max(widest, cursor_.column());
      if (cursor_.peek() == '\t' && is_indentation()) {
        return cursor_.reject_tab(cursor_.at());
      }
      if (!cursor_.is_line_end() || cursor_.at_end()) break;
      cursor_.next_line();
      ++line_ends_;
    }
    if (column_ == 0) column_ = detail::max(widest, least_);
    return true;
  }

  bool is_indentation() const { return column_ == 0 || cursor_.column() < column_; }

  YamlCursor& cursor_;
  std::string& decoded_;
  std::size_t least_;
  bool folded_ = false;
  char chomping_ = ' ';        // '-' strips the final line ends, '+' keeps all, ' ' keeps one
  std::size_t column_ = 0;     // column where the lines begin; 0 while unknown
  std::size_t line_ends_ = 0;  // line ends read after the appended text
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_BLOCK_SCALAR_HPP
