// YAML plain scalars: text without quotes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_PLAIN_SCALAR_HPP
#define CDI_TEXT_YAML_PLAIN_SCALAR_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a plain scalar, which ends before a comment, before a colon followed by a blank, and, in
/// brackets and braces, before any of `,[]{}`. Lines are folded.
class YamlPlainScalarReader {
 public:
  /// Further lines must begin in column `least` or later; `flow` is true in brackets or braces.
  YamlPlainScalarReader(YamlCursor& cursor, std::string& decoded, std::size_t least, bool flow)
      : cursor_{cursor}, decoded_{decoded}, least_{least}, flow_{flow} {}

  /// Reads the scalar here. Returns false if the text is rejected.
  bool read(YamlScalar& out) {
    if (!can_begin()) return bad_begin();
    out.begin = cursor_.at();
    std::size_t end = skip_line();
    out.size = end - out.begin;
    while (true) {
      const std::size_t line_begin = cursor_.line_begin();
      std::size_t line_ends = 0;
      if (!find_next_line(line_ends)) return false;
      if (line_ends == 0) {
        cursor_.move_back(end, line_begin);
        return true;
      }
      if (!std::exchange(out.is_decoded, true)) decoded_.assign(cursor_.text(out.begin, out.size));
      append_folded(decoded_, line_ends);
      const std::size_t begin = cursor_.at();
      end = skip_line();
      decoded_.append(cursor_.text(begin, end - begin));
    }
  }

 private:
  static bool is_flow_indicator(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
  }

  bool can_begin() const {
    const char c = cursor_.peek();
    if (c == '-') return !cursor_.is_blank_or_end(1);
    if (c == '?' || c == ':') return !flow_ && !cursor_.is_blank_or_end(1);
    constexpr std::string_view indicators = ",[]{}#&*!|>'\"%@`\t";
    return c != '\0' && indicators.find(c) == indicators.npos;
  }

  bool bad_begin() {
    const char c = cursor_.peek();
    if (c == '%') {
      return cursor_.reject("'%' may begin a line only before a document", "use quotes",
                            cursor_.at());
    }
    if (c == '?') {
      return cursor_.reject("text in brackets cannot begin with '?'",
                            "put it in quotes, or write a space after the '?' of a key",
                            cursor_.at());
    }
    std::string message = "text cannot begin with ";
    return cursor_.reject(message.append(quoted({&c, 1})), "put it in quotes", cursor_.at());
  }

  /// Skips the rest of the scalar on this line. Returns its end, without trailing blanks.
  std::size_t skip_line() {
    const std::size_t begin = cursor_.at();
    for (;; cursor_.move(1)) {
      if (!flow_) cursor_.skip_plain_bytes();
      if (cursor_.is_line_end() || (cursor_.is_blank() && cursor_.peek(1) == '#')) break;
      const char c = cursor_.peek();
      if (c == ':' && cursor_.is_blank_or_end(1)) break;
      if (flow_ && is_flow_indicator(c)) break;
      if (flow_ && c == '?') note_question_mark();
    }
    auto line = cursor_.text_from(begin);
    while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
    return begin + line.size();
  }

  void note_question_mark() {
    cursor_.note_unportable(
        cursor_.at(),
        "'?' in text inside brackets is rejected by the Go reference, and thus by most engines",
        "put the text in quotes");
  }

  /// Moves to the scalar's next line and counts the line ends on the way; 0 if there is none.
  bool find_next_line(std::size_t& line_ends) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t tab = none;  // a tab before a blank line or a comment
    while (cursor_.is_line_end() && !cursor_.at_end()) {
      cursor_.next_line();
      ++line_ends;
      cursor_.skip_spaces();
      if (cursor_.peek() == '\t' && cursor_.column() < least_) {
        if (!cursor_.at_line_end()) return cursor_.reject_tab(cursor_.at());
        if (tab == none) tab = cursor_.at();
      }
      cursor_.skip_blanks();
    }
    if (!ends_here()) return tab == none || cursor_.reject_tab(tab);
    if (tab != none) cursor_.note_tab(tab);
    line_ends = 0;
    return true;
  }

  bool ends_here() const {
    const char c = cursor_.peek();
    return cursor_.at_end() || c == '#' || (!flow_ && cursor_.column() < least_) ||
           (cursor_.column() == 0 && cursor_.is_any_marker()) || (flow_ && is_flow_indicator(c)) ||
           cursor_.is_indicator(':');
  }

  YamlCursor& cursor_;
  std::string& decoded_;
  std::size_t least_;
  bool flow_;
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_PLAIN_SCALAR_HPP
