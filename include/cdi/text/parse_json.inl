// The bodies of <cdi/text/parse_json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_PARSE_JSON_INL
#define CDI_TEXT_PARSE_JSON_INL

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cdi/text/bytes.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/unicode.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Reads a JSON text, RFC 8259, in one pass and without recursion.
class JsonReader {
 public:
  explicit JsonReader(DocumentBuilder& builder) : text_{builder.source()}, builder_{builder} {}

  /// Fills the builder. Returns false if the text is rejected.
  bool read() {
    skip_blanks();
    if (at_ == text_.size()) return builder_.reject(Errc::syntax, "the text is empty", 0);
    note_tab(0);
    if (!read_value()) return false;
    while (builder_.is_open()) {
      if (!read_next()) return false;
    }
    const std::size_t end = at_;
    skip_blanks();
    note_tab(text_.find_first_of("\r\n", end));
    return at_ == text_.size() || unexpected("nothing after the value");
  }

 private:
  static constexpr std::size_t longest_portable_key = 1024;  // characters, with quotes and blanks

  /// The byte at a place; NUL, which no JSON text contains, at the end.
  char peek(std::size_t at) const { return text_.data()[at]; }

  static bool is_blank(char c) {
    return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
  }
  /// Whether a whole word can be loaded at a place.
  bool has_word(std::size_t at) const { return text_.size() - at >= sizeof(std::uint64_t); }

  void skip_blanks() {
    if (is_blank(peek(at_))) at_ = end_of_blanks(at_ + 1);
  }

  /// Returns the end of a run of blanks, usually the indentation of a line.
  std::size_t end_of_blanks(std::size_t at) const {
    for (;; ++at) {
      while (has_word(at)) {
        const std::size_t spaces = first_byte(load_word(text_.data() + at) ^ eight_of(' '));
        at += spaces;
        if (spaces < sizeof(std::uint64_t)) break;
      }
      if (!is_blank(peek(at))) return at;
    }
  }

  /// Reports a tab among the blanks between `from` and the current place.
  void note_tab(std::size_t from) {
    const std::size_t tab = text_.substr(0, at_).find('\t', from);
    if (tab == text_.npos) return;
    builder_.note_unportable(tab,
                             "a tab at the start of a line outside the braces is rejected by the "
                             "Go reference, and thus by most engines",
                             "remove it");
  }

  bool reject(std::string message, std::string advice, std::size_t at) {
    message.insert(0, "not valid JSON: ");
    return builder_.reject(Errc::syntax, std::move(message), std::move(advice), at);
  }
  bool reject(std::string message, std::size_t at) { return reject(std::move(message), {}, at); }

  /// Rejects the current character.
  bool unexpected(std::string_view expected, std::string_view advice = {}) {
    if (at_ >= text_.size()) return cut_off();
    const auto character = text_.substr(at_, utf8_size(text_.substr(at_, 4)));
    if (character.empty()) return bad_byte();
    std::string message = "unexpected ";
    message.append(quoted(character));
    message.append(", expected ").append(expected);
    return reject(std::move(message), std::string{advice}, at_);
  }

  bool cut_off() {
    std::string message = "the text ends too early";
    if (const auto open = builder_.open_value()) {
      message = "unexpected end of text: the value that begins at " + builder_.describe(*open) +
                " is not closed";
    }
    return reject(std::move(message), text_.size());
  }

  /// Continues in the innermost list or map, either at its start or after one of its values.
  bool read_next() {
    const bool map = builder_.is_in_map();
    const char end = map ? '}' : ']';
    skip_blanks();
    const std::size_t comma = at_;
    if (peek(at_) == end) return end_value();
    if (!begun_) {
      if (peek(at_) != ',') return unexpected(map ? "',' or '}'" : "',' or ']'");
      ++at_;
      skip_blanks();
      if (peek(at_) == end) return reject("a trailing comma", "remove it", comma);
    }
    begun_ = false;
    return (!map || read_key()) && read_value();
  }

  bool end_value() {
    ++at_;
    begun_ = false;
    return builder_.is_in_map() ? builder_.end_map() : builder_.end_list();
  }

  bool read_key() {
    if (peek(at_) != '"') return unexpected("a key in double quotes");
    const std::size_t begin = at_;
    if (!read_string()) return false;
    const bool usual = peek(at_) == ':' && at_ - begin <= longest_portable_key;
    if (!usual && !find_colon(begin)) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  /// Moves from the end of a key to its colon, and reports a colon that is too far away.
  bool find_colon(std::size_t begin) {
    const std::size_t end = at_;
    skip_blanks();
    if (peek(at_) != ':') return unexpected("':' after the key");
    if (text_.substr(end, at_ - end).find_first_of("\r\n") != text_.npos) {
      builder_.note_unportable(end,
                               "a line break between a key and its ':' is rejected by the Go "
                               "reference, and thus by most engines",
                               "put both on one line");
    }
    const auto key = text_.substr(begin, at_ - begin);
    if (key.size() > longest_portable_key && count_characters(key) > longest_portable_key) {
      builder_.note_unportable(begin,
                               "a key of more than 1024 characters is rejected by the Go "
                               "reference, and thus by most engines",
                               "use a shorter key");
    }
    return true;
  }

  bool read_value() {
    const char c = peek(at_);
    switch (c) {
      case '"': return read_string();
      case '{':
      case '[':
        begun_ = true;
        ++at_;
        return c == '{' ? builder_.begin_map(at_ - 1) : builder_.begin_list(at_ - 1);
      case 't': return read_word("true");
      case 'f': return read_word("false");
      case 'n': return read_word("null");
      default: break;
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number();
    if (c == '\'') return unexpected("a value", "use double quotes");
    return unexpected("a value");
  }

  bool read_word(std::string_view word) {
    const std::size_t begin = at_;
    for (const char c : word) {
      if (peek(at_) != c) return unexpected(std::string{word});
      ++at_;
    }
    if (word == "null") return builder_.null(begin);
    return builder_.scalar(begin, begin, word.size(), /*quoted=*/false);
  }

  bool read_number() {
    const std::size_t begin = at_;
    if (peek(at_) == '-') ++at_;
    if (peek(at_) == '0') {
      ++at_;
    } else if (!skip_digits()) {
      return false;
    }
    if (peek(at_) == '.') {
      ++at_;
      if (!skip_digits()) return false;
    }
    if (ascii_lower(peek(at_)) == 'e') {
      ++at_;
      if (peek(at_) == '+' || peek(at_) == '-') ++at_;
      if (!skip_digits()) return false;
    }
    return builder_.scalar(begin, begin, at_ - begin, /*quoted=*/false);
  }

  bool skip_digits() {
    const std::size_t begin = at_;
    while (peek(at_) >= '0' && peek(at_) <= '9') ++at_;
    return at_ != begin || unexpected("a digit");
  }

  /// Skips the bytes of a string that are not escapes.
  void skip_plain_bytes() {
    while (true) {
      at_ = end_of_printable(at_);
      const auto byte = static_cast<unsigned char>(peek(at_));
      const bool rare = byte >= 0x7f;
      if (!rare || !skip_rare_character()) return;
    }
  }

  /// Returns the end of a run of printable ASCII other than quotes and backslashes.
  std::size_t end_of_printable(std::size_t at) const {
    while (has_word(at)) {
      const std::uint64_t stops = mark_string_end(load_word(text_.data() + at));
      if (stops != 0) return at + first_byte(stops);
      at += sizeof stops;
    }
    while (peek(at) >= ' ' && peek(at) < 0x7f && peek(at) != '"' && peek(at) != '\\') ++at;
    return at;
  }

  /// Skips a character that is not printable ASCII. Returns false if it is not UTF-8.
  bool skip_rare_character() {
    const auto character = text_.substr(at_, utf8_size(text_.substr(at_, 4)));
    if (is_unportable(character) && builder_.notes(code_of_unportable(character))) {
      const auto [message, advice] = unportable_character(character, {});
      builder_.note_unportable(at_, message, advice, code_of_unportable(character));
    }
    at_ += character.size();
    return !character.empty();
  }

  bool read_string() {
    const std::size_t begin = at_;
    at_ = end_of_printable(begin + 1);
    if (peek(at_) != '"') return read_rare_string(begin);
    ++at_;
    return builder_.scalar(begin, begin + 1, at_ - begin - 2, /*quoted=*/true);
  }

  /// Reads the rest of a string with escapes or characters that are not printable ASCII.
  bool read_rare_string(std::size_t begin) {
    skip_plain_bytes();
    if (peek(at_) == '"') {
      ++at_;
      return builder_.scalar(begin, begin + 1, at_ - begin - 2, /*quoted=*/true);
    }
    decoded_.assign(text_.substr(begin + 1, at_ - begin - 1));
    while (peek(at_) != '"') {
      if (at_ >= text_.size()) {
        return reject("the string that begins here is not closed", "add \"", begin);
      }
      if (text_[at_] != '\\') return bad_byte();
      if (!read_escape()) return false;
      const std::size_t from = at_;
      skip_plain_bytes();
      decoded_.append(text_.substr(from, at_ - from));
    }
    ++at_;
    return builder_.decoded_scalar(begin, decoded_, /*quoted=*/true);
  }

  bool bad_byte() {
    if (text_[at_] == '\n') return reject("a line break in a string", "write \\n", at_);
    if (text_[at_] == '\t') return reject("a tab in a string", "write \\t", at_);
    auto [message, advice] = forbidden_byte(text_[at_], {});
    return reject(std::move(message), std::move(advice), at_);
  }

  bool read_escape() {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    const std::size_t begin = at_++;
    const char name = peek(at_);
    if (name == 'u') return read_unicode_escape(begin);
    const auto which = name == '\0' ? names.npos : names.find(name);
    if (which == names.npos) {
      return reject("invalid escape sequence in a string", "write \\\\ for a backslash", begin);
    }
    if (name == '/') builder_.note_unportable(begin, unportable_slash, advice_on_slash);
    ++at_;
    decoded_.push_back(meant[which]);
    return true;
  }

  /// Reads four hexadecimal digits at a place. Returns false if there are fewer.
  bool hex_digits(std::size_t at, std::uint32_t& code) const {
    code = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const int digit = hex_digit(peek(at + i));
      if (digit < 0) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  bool read_unicode_escape(std::size_t begin) {
    std::uint32_t code = 0;
    if (!hex_digits(begin + 2, code)) {
      return reject("\\u must be followed by four hexadecimal digits", begin);
    }
    at_ = begin + 6;
    std::uint32_t low = 0;
    const bool pair = code >= 0xd800 && code < 0xdc00 && peek(at_) == '\\' &&
                      peek(at_ + 1) == 'u' && hex_digits(at_ + 2, low) && low >= 0xdc00 &&
                      low < 0xe000;
    if (pair) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at_ += 6;
      builder_.note_unportable(begin,
                               "two \\u escapes for one character are rejected by the Go "
                               "reference, and thus by most engines",
                               "write the character itself");
    } else if (code >= 0xd800 && code < 0xe000) {
      return reject("half of a surrogate pair", "write both halves, or the character itself",
                    begin);
    }
    append_utf8(decoded_, code);
    return true;
  }

  std::string_view text_;
  DocumentBuilder& builder_;
  std::size_t at_ = 0;
  bool begun_ = false;  // the innermost list or map has just begun
  std::string decoded_{};
};

CDI_INLINE Result<Document> parse_json_in_place(std::string& text, std::string_view file,
                                                const Limits& limits) {
  DocumentBuilder builder{std::move(text), file, limits, /*merge_keys=*/false};
  if (!builder.failed()) detail::JsonReader{builder}.read();
  return std::move(builder).finish(text);
}

}  // namespace detail

CDI_INLINE Result<Document> parse_json(std::string_view text, std::string_view file,
                                       const Limits& limits) {
  std::string copy = DocumentBuilder::copy_of(text, limits);
  return detail::parse_json_in_place(copy, file, limits);
}

}  // namespace cdi

#endif  // CDI_TEXT_PARSE_JSON_INL
