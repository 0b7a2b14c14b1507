// The tokens of YAML text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_YAML_SCANNER_HPP
#define CDI_TEXT_YAML_SCANNER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The bytes of a YAML text: blanks, comments, words and scalars. What they mean together is for
/// `YamlReader` to know.
class YamlScanner {
 public:
  /// Where a tab may stand between tokens.
  enum class Tabs : std::uint8_t { none, on_this_line, anywhere };

  /// A scalar that was read. Its text stands in the source, or was decoded; then it is lost with
  /// the next scalar.
  struct Scalar {
    std::size_t at = 0;
    std::size_t begin = 0;  // of its text
    std::size_t size = 0;
    bool is_decoded = false;
    bool quoted = false;  // or a block: it can only be text
  };

  explicit YamlScanner(DocumentBuilder& builder) : text_{builder.source()}, builder_{builder} {}

  /// Refuses what YAML does not allow anywhere: control characters, and what is not UTF-8.
  bool check_characters() {
    if (text_.starts_with(utf8_mark)) return refuse("a second byte order mark: remove it", 0);
    constexpr std::string_view place = " in double quotes";
    const auto [bad, odd] = find_odd_characters(text_);
    if (bad != text_.npos) return refuse(forbidden_byte(text_[bad], place), bad);
    if (odd != text_.npos) {
      const auto character = text_.substr(odd, utf8_size(text_.substr(odd)));
      builder_.note_unportable(odd, unportable_character(character, place));
    }
    return true;
  }

  // -- places ------------------------------------------------------------------------------------

  std::size_t at() const { return at_; }
  std::size_t line_begin() const { return line_begin_; }
  std::size_t column() const { return at_ - line_begin_; }
  std::size_t column_of(std::size_t at) const { return at - line_begin_; }
  bool at_end() const { return at_ >= text_.size(); }
  void move(std::size_t bytes) { at_ += bytes; }

  /// Whether the token here is the first of its line; asked once.
  bool take_fresh() { return std::exchange(fresh_, false); }

  /// The byte `ahead`; NUL behind the end, which no YAML text has.
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool is_blank(std::size_t ahead = 0) const { return peek(ahead) == ' ' || peek(ahead) == '\t'; }
  bool is_line_end(std::size_t ahead = 0) const {
    const char c = peek(ahead);
    return c == '\n' || c == '\r' || c == '\0';
  }
  bool is_blank_or_end(std::size_t ahead = 0) const {
    return is_blank(ahead) || is_line_end(ahead);
  }

  /// Whether the line is `---` or `...`, with a blank or nothing behind it; asked in column 0.
  bool is_marker(std::string_view marker) const {
    return text_.substr(at_, marker.size()) == marker && is_blank_or_end(marker.size());
  }
  bool is_any_marker() const { return is_marker("---") || is_marker("..."); }

  /// Whether a colon that ends a key comes next.
  bool at_colon() const {
    const std::size_t blanks = count_blanks();
    return peek(blanks) == ':' && is_blank_or_end(blanks + 1);
  }
  /// The same in brackets and braces, where nothing needs to stand behind it.
  bool at_flow_colon() const { return peek(count_blanks()) == ':'; }

  /// Whether nothing but a comment comes next on the line.
  bool at_line_end() const {
    const std::size_t blanks = count_blanks();
    return is_line_end(blanks) || peek(blanks) == '#';
  }

  // -- moving ------------------------------------------------------------------------------------

  void skip_blanks() { at_ += count_blanks(); }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }

  /// Moves over blanks, comments and line ends to the next token, or the end.
  void skip_to_token(Tabs tabs) {
    while (true) {
      while (peek() == ' ' || (peek() == '\t' && (tabs != Tabs::none || at_ < blank_until_))) {
        ++at_;
      }
      if (peek() == '#') skip_rest_of_line();
      if (at_end() || !is_line_end()) return;
      next_line();
      if (tabs == Tabs::on_this_line) tabs = Tabs::none;
    }
  }

  /// The rest of the line, and moves to its end.
  std::string_view take_line() {
    const std::size_t begin = at_;
    skip_rest_of_line();
    return text_.substr(begin, at_ - begin);
  }

  /// The name of an anchor: letters, digits, `_` and `-`.
  std::string_view take_name() {
    const std::size_t begin = at_;
    while (is_name_byte(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Whether a name may end here.
  bool ends_name() const {
    return is_blank_or_end() || std::string_view{"?:,]}%@`"}.find(peek()) != text_.npos;
  }

  /// A tag, with its `!`.
  std::string_view take_tag() {
    const std::size_t begin = at_;
    const bool whole = text_.substr(at_, 2) == "!<";  // up to its bracket
    const std::string_view ends = whole ? ">" : ",[]{}";
    while (!is_blank_or_end() && ends.find(peek()) == text_.npos) ++at_;
    if (whole && peek() == '>') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // -- scalars -----------------------------------------------------------------------------------

  /// Reads a scalar of any style; false when the text is refused. Further lines of a plain one
  /// begin in column `least` or behind; `flow`: inside brackets or braces.
  bool read_scalar(std::size_t least, bool flow, Scalar& out) {
    out = {.at = at_};
    const char c = peek();
    if (c == '"') return read_double_quoted(out);
    if (c == '\'') return read_single_quoted(out);
    if (!flow && (c == '|' || c == '>')) return read_block_scalar(least, out);
    if (!begins_plain(flow)) return bad_begin(c);
    return read_plain(least, flow, out);
  }

  /// The text of the scalar that was read last.
  std::string_view text_of(const Scalar& scalar) const {
    return scalar.is_decoded ? std::string_view{decoded_} : text_.substr(scalar.begin, scalar.size);
  }

 private:
  bool refuse(std::string message, std::size_t at) {
    return builder_.refuse(Errc::syntax, message.insert(0, "not valid YAML: "), at);
  }

  static bool is_name_byte(char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  }

  std::size_t count_blanks() const {
    std::size_t blanks = 0;
    while (is_blank(blanks)) ++blanks;
    return blanks;
  }

  void skip_rest_of_line() { at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()); }

  /// Moves to the begin of the next line, from the end of this one.
  void next_line() {
    at_ = std::min(at_ + (text_.substr(at_, 2) == "\r\n" ? 2 : 1), text_.size());
    line_begin_ = at_;
    fresh_ = true;
  }

  bool is_flow_indicator(char c) const {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
  }

  bool begins_plain(bool flow) const {
    const char c = peek();
    if (c == '-') return !is_blank_or_end(1);
    if (c == '?' || c == ':') return !flow && !is_blank_or_end(1);
    return c != '\0' && std::string_view{",[]{}#&*!|>'\"%@`\t"}.find(c) == text_.npos;
  }

  bool bad_begin(char c) {
    if (c == '%') return refuse("'%' begins a line only before a document: use quotes", at_);
    std::string message = "text cannot begin with ";
    return refuse(message.append(quoted({&c, 1})).append(": put it into quotes"), at_);
  }

  // A plain scalar ends before a comment, before a colon with a blank behind it, and in brackets
  // before `,[]{}`. Its lines are folded.

  bool read_plain(std::size_t least, bool flow, Scalar& out) {
    out.begin = at_;
    std::size_t end = skip_plain_line(flow);
    out.size = end - out.begin;
    while (true) {
      const std::size_t line_begin = line_begin_;
      std::size_t breaks = 0;
      if (!find_next_plain_line(least, flow, breaks)) return false;
      if (breaks == 0) {
        blank_until_ = at_;
        at_ = end;
        line_begin_ = line_begin;
        fresh_ = false;
        return true;
      }
      if (!std::exchange(out.is_decoded, true)) decoded_.assign(text_.substr(out.begin, out.size));
      fold(breaks);
      const std::size_t begin = at_;
      end = skip_plain_line(flow);
      decoded_.append(text_.substr(begin, end - begin));
    }
  }

  /// Moves over the rest of a plain scalar on this line; where it ends, without blanks behind it.
  std::size_t skip_plain_line(bool flow) {
    std::size_t end = at_;
    for (; !is_line_end(); ++at_) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t') {
        if (peek(1) == '#') break;
        continue;
      }
      if (c == ':' && is_blank_or_end(1)) break;
      if (flow && is_flow_indicator(c)) break;
      if (flow && c == '?') note_question_mark();
      end = at_ + 1;
    }
    return end;
  }

  void note_question_mark() {
    builder_.note_unportable(at_,
                             "'?' in text inside brackets is refused by the Go reference, and so "
                             "by most engines: put the text into quotes");
  }

  /// Moves to where a plain scalar goes on; `breaks` is 0 when it does not.
  bool find_next_plain_line(std::size_t least, bool flow, std::size_t& breaks) {
    while (is_line_end() && !at_end()) {
      next_line();
      ++breaks;
      while (is_blank()) {
        if (peek() == '\t' && column() < least) {
          return refuse("indent with spaces, not with tabs", at_);
        }
        ++at_;
      }
    }
    const bool ends = at_end() || peek() == '#' || (!flow && column() < least) ||
                      (column() == 0 && is_any_marker()) || (flow && is_flow_indicator(peek())) ||
                      (peek() == ':' && is_blank_or_end(1));
    if (ends) breaks = 0;
    return true;
  }

  /// Appends what line ends inside a scalar stand for: one is a blank, more are line ends.
  void fold(std::size_t breaks) {
    if (breaks == 1) decoded_.push_back(' ');
    if (breaks > 1) decoded_.append(breaks - 1, '\n');
  }

  bool not_closed(const Scalar& scalar) {
    return refuse("the text that begins here is not ended: close the quotes", scalar.at);
  }

  /// Inside quotes, at a blank or line end: appends what stands for it.
  bool fold_quoted(const Scalar& scalar) {
    const std::size_t begin = at_;
    skip_blanks();
    if (at_end()) return not_closed(scalar);
    if (!is_line_end()) {
      decoded_.append(text_.substr(begin, at_ - begin));
      return true;
    }
    std::size_t breaks = 0;
    if (!skip_line_ends(scalar, breaks)) return false;
    fold(breaks);
    return true;
  }

  /// Inside quotes: moves over line ends and the blanks that begin lines.
  bool skip_line_ends(const Scalar& scalar, std::size_t& breaks) {
    for (; is_line_end(); ++breaks) {
      if (at_end()) return not_closed(scalar);
      next_line();
      if (is_any_marker()) return not_closed(scalar);
      skip_blanks();
    }
    fresh_ = false;
    return true;
  }

  /// Reads to the quote that ends a scalar in quotes, if nothing before it needs decoding.
  bool read_simple_quoted(Scalar& out, char quote) {
    out.quoted = true;
    out.begin = ++at_;
    for (; !is_line_end(); ++at_) {
      if (text_[at_] == quote) {
        if (quote == '\'' && peek(1) == quote) break;
        out.size = at_++ - out.begin;
        return true;
      }
      if (text_[at_] == '\\' && quote == '"') break;
    }
    // The blanks before a line end are folded with it.
    while (at_ > out.begin && (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t')) --at_;
    decoded_.assign(text_.substr(out.begin, at_ - out.begin));
    out.is_decoded = true;
    return false;
  }

  bool read_single_quoted(Scalar& out) {
    if (read_simple_quoted(out, '\'')) return true;
    while (true) {
      const std::size_t begin = at_;
      while (!is_blank_or_end() && peek() != '\'') ++at_;
      decoded_.append(text_.substr(begin, at_ - begin));
      if (peek() != '\'') {
        if (!fold_quoted(out)) return false;
      } else if (peek(1) == '\'') {
        decoded_.push_back('\'');
        at_ += 2;
      } else {
        ++at_;
        return true;
      }
    }
  }

  bool read_double_quoted(Scalar& out) {
    if (read_simple_quoted(out, '"')) return true;
    while (true) {
      const std::size_t begin = at_;
      while (!is_blank_or_end() && peek() != '"' && peek() != '\\') ++at_;
      decoded_.append(text_.substr(begin, at_ - begin));
      if (peek() == '"') {
        ++at_;
        return true;
      }
      if (peek() == '\\' ? !read_escape(out) : !fold_quoted(out)) return false;
    }
  }

  bool read_escape(const Scalar& scalar) {
    const std::size_t begin = at_++;
    if (at_end()) return not_closed(scalar);
    if (is_line_end()) {  // the line goes on without a blank
      std::size_t breaks = 0;
      if (!skip_line_ends(scalar, breaks)) return false;
      decoded_.append(breaks - 1, '\n');
      return true;
    }
    const char name = peek();
    ++at_;
    if (name == '/') builder_.note_unportable(begin, unportable_slash);
    if (name == 'x') return read_code(begin, 2);
    if (name == 'u') return read_code(begin, 4);
    if (name == 'U') return read_code(begin, 8);
    return append_escape(name) ||
           refuse("unknown escape in double quotes: write \\\\ for a backslash", begin);
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
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const int digit = hex_digit(peek());
      if (digit < 0) {
        return refuse("an escape needs " + std::to_string(digits) + " hexadecimal digits", begin);
      }
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return refuse("an escape that is not a character: write the character itself", begin);
    }
    append_utf8(decoded_, code);
    return true;
  }

  // A block scalar, `|` or `>`: lines that are indented alike, kept or folded.

  struct BlockHeader {
    bool folded = false;
    char chomping = ' ';  // '-' no line end, '+' all of them, else one
    std::size_t indentation = 0;
  };

  bool read_block_scalar(std::size_t least, Scalar& out) {
    out.quoted = true;
    out.is_decoded = true;
    decoded_.clear();
    BlockHeader header;
    if (!read_block_header(header)) return false;
    least = std::max<std::size_t>(least, 1);
    std::size_t column = header.indentation == 0 ? 0 : least + header.indentation - 1;
    std::size_t breaks = 0;  // line ends behind what was appended
    if (!skip_empty_lines(least, column, breaks)) return false;
    bool first = true;
    bool was_indented = false;  // the line before begins with a blank: it is not folded
    while (this->column() == column && !at_end()) {
      const bool indented = is_blank();
      if (!first && header.folded && !was_indented && !indented) {
        fold(breaks);
      } else {
        decoded_.append(breaks, '\n');
      }
      first = false;
      was_indented = indented;
      decoded_.append(take_line());
      breaks = 0;
      if (at_end()) break;
      next_line();
      breaks = 1;
      if (!skip_empty_lines(column, column, breaks)) return false;
    }
    end_block_scalar(header, breaks);
    return true;
  }

  void end_block_scalar(const BlockHeader& header, std::size_t breaks) {
    if (header.chomping == '+') decoded_.append(breaks, '\n');
    if (header.chomping == ' ' && breaks > 0 && !decoded_.empty()) decoded_.push_back('\n');
  }

  bool read_block_header(BlockHeader& header) {
    const std::size_t begin = at_;
    header.folded = peek() == '>';
    ++at_;
    for (int i = 0; i < 2; ++i) {
      const char c = peek();
      if ((c == '-' || c == '+') && header.chomping == ' ') {
        header.chomping = c;
        ++at_;
      } else if (c >= '1' && c <= '9' && header.indentation == 0) {
        header.indentation = static_cast<std::size_t>(c - '0');
        ++at_;
      }
    }
    const bool blank = is_blank_or_end();
    skip_blanks();
    if (blank && peek() == '#') skip_rest_of_line();
    if (!blank || !is_line_end()) {
      return refuse("after | and > come at most one of + and -, and a digit, and the line ends",
                    begin);
    }
    if (!at_end()) next_line();
    return true;
  }

  /// Moves over lines without content and over the indentation of the next line that has some. When
  /// `column` is not known, 0, that line tells it.
  bool skip_empty_lines(std::size_t least, std::size_t& column, std::size_t& breaks) {
    std::size_t widest = 0;
    while (true) {
      while (peek() == ' ' && (column == 0 || this->column() < column)) ++at_;
      widest = std::max(widest, this->column());
      if (peek() == '\t' && (column == 0 || this->column() < column)) {
        return refuse("indent with spaces, not with tabs", at_);
      }
      if (!is_line_end() || at_end()) break;
      next_line();
      ++breaks;
    }
    if (column == 0) column = std::max(widest, least);
    return true;
  }

  std::string_view text_;
  DocumentBuilder& builder_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  bool fresh_ = true;            // nothing was read of this line
  std::size_t blank_until_ = 0;  // what follows the last plain scalar is blank up to here
  std::string decoded_{};
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_YAML_SCANNER_HPP
