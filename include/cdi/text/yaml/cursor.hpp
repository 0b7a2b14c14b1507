// A place in a YAML text, which moves over blanks, comments and line ends, and finds markers; also
// the scalar read at a place.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_CURSOR_HPP
#define CDI_TEXT_YAML_CURSOR_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A scalar. Its text is part of the source, or has been decoded into a separate buffer.
struct YamlScalar {
  std::size_t at = 0;     // where the scalar starts in the source
  std::size_t begin = 0;  // where its text starts in the source
  std::size_t size = 0;   // size of its text in the source
  bool is_decoded = false;
  bool quoted = false;  // whether it can only be text: in quotes, or a block scalar
};

/// Appends folded line ends: a single line end becomes a blank, n line ends become n - 1.
inline void append_folded(std::string& decoded, std::size_t line_ends) {
  if (line_ends == 1) decoded.push_back(' ');
  if (line_ends > 1) decoded.append(line_ends - 1, '\n');
}

/// A place in a YAML text that moves forward.
class YamlCursor {
 public:
  /// Where tabs between tokens are allowed.
  enum class Tabs : std::uint8_t { none, on_this_line, anywhere };

  explicit YamlCursor(DocumentBuilder& builder) : text_{builder.source()}, builder_{builder} {}

  /// Rejects characters that YAML forbids: control characters and bytes that are not UTF-8.
  bool check_characters() {
    if (text_.starts_with(utf8_mark)) return reject("a second byte order mark", "remove it", 0);
    constexpr std::string_view place = " in double quotes";
    const auto [bad, odd, rejected] = find_odd_characters(text_);
    if (bad != text_.npos) {
      auto [message, advice] = forbidden_byte(text_[bad], place);
      return reject(std::move(message), std::move(advice), bad);
    }
    for (const auto at : {odd, rejected}) {
      if (at == text_.npos) continue;
      const auto character = text_.substr(at, utf8_size(text_.substr(at)));
      const auto [message, advice] = unportable_character(character, place);
      note_unportable(at, message, advice, code_of_unportable(character));
    }
    return true;
  }

  /// Rejects the text; returns false.
  bool reject(std::string message, std::string advice, std::size_t at) {
    message.insert(0, "not valid YAML: ");
    return builder_.reject(Errc::syntax, std::move(message), std::move(advice), at);
  }
  bool reject(std::string message, std::size_t at) { return reject(std::move(message), {}, at); }
  /// Rejects valid YAML that other readers may accept; returns false.
  bool reject_unsupported(std::string message, std::string advice, std::size_t at) {
    return builder_.reject(Errc::unsupported, std::move(message), std::move(advice), at);
  }
  void note_unportable(std::size_t at, std::string_view reason, std::string_view advice,
                       Errc code = Errc::syntax) {
    builder_.note_unportable(at, reason, advice, code);
  }

  /// Rejects a tab that indents a value; returns false.
  bool reject_tab(std::size_t at) { return reject("indent with spaces, not with tabs", at); }
  /// Rejects a key for which `is_long_key` is true; returns false.
  bool reject_long_key(std::size_t at) {
    return reject("a key has more than 1024 characters", "write \"? \" before it", at);
  }
  /// Reports a tab before a blank line or a comment.
  void note_tab(std::size_t at, Errc code = Errc::syntax) {
    note_unportable(at,
                    "a tab at the beginning of a blank line or comment is rejected by most "
                    "releases of the Go library, and thus by most engines",
                    "remove it", code);
  }

  // -- places ------------------------------------------------------------------------------------

  std::size_t at() const { return at_; }
  std::size_t line_begin() const { return line_begin_; }
  std::size_t column() const { return at_ - line_begin_; }
  /// The column of a place on the current line.
  std::size_t column_of(std::size_t at) const { return at - line_begin_; }
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view text(std::size_t begin, std::size_t size) const {
    return text_.substr(begin, size);
  }
  /// The text from `begin` to the current place.
  std::string_view text_from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

  /// The current byte; NUL, which no YAML text contains, at the end.
  char peek() const { return text_.data()[at_]; }
  /// The byte `ahead` bytes after the current one; NUL past the end.
  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool is_blank() const { return blank(peek()); }
  bool is_line_end(std::size_t ahead = 0) const { return line_end(peek(ahead)); }
  bool is_blank_or_end(std::size_t ahead = 0) const { return blank_or_end(peek(ahead)); }

  /// Whether the line is `---` or `...`, followed by a blank or nothing. Only for column 0.
  bool is_marker(std::string_view marker) const {
    return text_.substr(at_, marker.size()) == marker && is_blank_or_end(marker.size());
  }
  bool is_any_marker() const { return is_marker("---") || is_marker("..."); }

  /// Whether the current byte is `c` as an indicator, that is, before a blank or a line end.
  bool is_indicator(char c) const { return peek() == c && is_blank_or_end(1); }

  /// Whether the next token is a colon that ends a key.
  bool at_colon() const {
    const std::size_t blanks = count_blanks();
    return peek(blanks) == ':' && is_blank_or_end(blanks + 1);
  }
  /// Like `at_colon`, but in brackets or braces, where no blank is needed after the colon.
  bool at_flow_colon() const { return peek(count_blanks()) == ':'; }

  /// Whether the key from `begin` to here is too long for a key without `? `.
  bool is_long_key(std::size_t begin) const {
    return at_ - begin > longest_key && count_characters(text_from(begin)) > longest_key;
  }

  /// Whether the rest of the line contains only blanks or a comment.
  bool at_line_end() const {
    const std::size_t blanks = count_blanks();
    return is_line_end(blanks) || peek(blanks) == '#';
  }

  /// The size of the word here: it begins with a letter, a digit, `/` or `_`, and ends before a
  /// blank, a line end, or a colon followed by either. If only a line end or a colon follows, the
  /// word is a plain scalar. Returns 0 if there is no word.
  std::size_t word_size() const {
    const char c = peek();
    const char lower = ascii_lower(c);
    if (!((lower >= 'a' && lower <= 'z') || (c >= '/' && c <= '9') || c == '_')) return 0;
    for (std::size_t end = at_ + 1;; ++end) {
      end = end_of_plain_bytes(end);
      const char* const stop = text_.data() + end;
      if (blank_or_end(*stop) || (*stop == ':' && blank_or_end(stop[1]))) return end - at_;
    }
  }

  // -- moves -------------------------------------------------------------------------------------

  void move(std::size_t bytes) { at_ += bytes; }
  /// Moves to another place on the current line.
  void move_to(std::size_t at) { at_ = at; }

  /// Moves back to a place on an earlier line. Only blanks may lie between there and here.
  void move_back(std::size_t at, std::size_t line_begin) {
    blank_until_ = at_;
    at_ = at;
    line_begin_ = line_begin;
    fresh_ = false;
  }

  /// Whether no token has been read on this line.
  bool is_fresh() const { return fresh_; }
  /// Returns `is_fresh()`, then counts a token as read, so that later calls return false.
  bool take_fresh() { return std::exchange(fresh_, false); }

  void skip_blanks() { at_ += count_blanks(); }
  void skip_spaces() {
    if (peek() == ' ') at_ = end_of_spaces(at_ + 1);
  }
  /// Skips bytes other than blanks, line ends and colons; may stop before the end of the run.
  void skip_plain_bytes() { at_ = end_of_plain_bytes(at_); }
  void skip_rest_of_line() { at_ = detail::min(text_.find_first_of("\r\n", at_), text_.size()); }

  /// Moves from the end of a line to the start of the next.
  void next_line() {
    const bool two = peek() == '\r' && peek(1) == '\n';
    at_ = detail::min(at_ + (two ? 2 : 1), text_.size());
    line_begin_ = at_;
    fresh_ = true;
  }

  /// Moves from the LF at the end of a line to the first token on the next line. If that token
  /// is indented by `least` or more spaces, or missing, returns false without moving.
  bool move_to_shallower_line(std::size_t least) {
    const std::size_t begin = at_ + 1;
    const std::size_t token = end_of_spaces(begin);
    if (token - begin >= least || blank_or_end(text_.data()[token])) return false;
    at_ = token;
    line_begin_ = begin;
    fresh_ = true;
    return true;
  }

  /// Skips blanks, comments and line ends up to the next token or the end of the text.
  void skip_to_token(Tabs tabs) {
    if (peek() <= '#') skip_blanks_and_comments(tabs);  // other tokens begin with a higher byte
  }

  /// Skips blank lines and comments, starting at a tab that begins a line; further lines may also
  /// begin with tabs. Returns false if the line contains a token.
  bool skip_tab_lines(Errc code = Errc::syntax) {
    if (!at_line_end()) return false;
    note_tab(at_, code);
    for (; !at_end() && at_line_end(); next_line()) skip_rest_of_line();
    return true;
  }

  /// Moves to the end of the line and returns the text skipped.
  std::string_view take_line() {
    const std::size_t begin = at_;
    skip_rest_of_line();
    return text_from(begin);
  }

 private:
  void skip_blanks_and_comments(Tabs tabs) {
    while (true) {
      skip_spaces();
      while (peek() == ' ' || (peek() == '\t' && (tabs != Tabs::none || at_ < blank_until_))) {
        ++at_;
      }
      if (peek() == '#') skip_rest_of_line();
      if (at_end() || !is_line_end()) return;
      next_line();
      if (tabs == Tabs::on_this_line) tabs = Tabs::none;
    }
  }

  static constexpr std::size_t longest_key = 1024;

  static bool blank(char c) { return c == ' ' || c == '\t'; }
  static bool line_end(char c) { return c == '\n' || c == '\r' || c == '\0'; }
  static bool blank_or_end(char c) { return c <= ' ' && (blank(c) || line_end(c)); }

  std::size_t count_blanks() const {
    std::size_t blanks = 0;
    while (blank(peek(blanks))) ++blanks;
    return blanks;
  }

  /// Whether eight bytes can be read at a place.
  bool has_word(std::size_t at) const { return text_.size() - at >= sizeof(std::uint64_t); }

  std::size_t end_of_spaces(std::size_t at) const {
    while (has_word(at)) {
      const std::size_t spaces = first_byte(load_word(text_.data() + at) ^ eight_of(' '));
      at += spaces;
      if (spaces < sizeof(std::uint64_t)) return at;
    }
    while (text_.data()[at] == ' ') ++at;
    return at;
  }

  /// The end of a run of bytes other than blanks, line ends and colons, or a place before that end.
  std::size_t end_of_plain_bytes(std::size_t at) const {
    while (has_word(at)) {
      const std::uint64_t word = load_word(text_.data() + at);
      const std::uint64_t stops = mark_below(word, '!') | mark_equal(word, ':');
      at += first_byte(stops);
      if (stops != 0) return at;
    }
    return at;
  }

  std::string_view text_;
  DocumentBuilder& builder_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  bool fresh_ = true;            // no token has been read on this line
  std::size_t blank_until_ = 0;  // up to here, only blanks follow the last plain scalar
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_CURSOR_HPP
