// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_YAML_HPP
#define CDI_YAML_HPP

#if !defined(__cpp_exceptions)
#error "cdi/yaml.hpp needs exceptions: yaml-cpp reports malformed input by throwing"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/read.hpp>
#include <cdi/result.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Thrown and caught in this header: the one way to stop yaml-cpp in the middle of a text.
struct YamlStop {};

/// A place in a text, counted along.
struct TextPlace {
  std::size_t at = 0;
  std::uint32_t line = 1;
  std::size_t line_begin = 0;

  void move_to(std::string_view text, std::size_t to) {
    for (; at < to; ++at) {
      if (text[at] != '\n') continue;
      ++line;
      line_begin = at + 1;
    }
  }
};

/// Turns yaml-cpp's events into a document. `text` is what was parsed, or empty when it was not
/// UTF-8, so that places in it are not known.
class YamlEvents final : public YAML::EventHandler {
 public:
  YamlEvents(std::string_view text, DocumentBuilder& builder) : text_{text}, builder_{builder} {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!builder_.open_value()) {
      builder_.refuse(Errc::syntax, "the text is empty", line(mark), column(mark));
      throw YamlStop{};
    }
    const auto place = null_place(mark);
    check(builder_.null(place.line, place.column));
    note(anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    advance(mark);
    check(builder_.copy(anchors_.at(anchor), line(mark), column(mark)));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    advance(mark);
    // "?" is a plain scalar without a tag; "!" one in quotes, or a block.
    const bool quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!is_utf8(value)) {  // what yaml-cpp makes of these two escapes
      builder_.refuse(Errc::syntax, R"(write \u0085 for \N and \u00a0 for \_)", line(mark),
                      column(mark));
      throw YamlStop{};
    }
    check(builder_.scalar(value, quoted, line(mark), column(mark)));
    note(anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    advance(mark);
    check(builder_.begin_list(line(mark), column(mark)));
    note(anchor);
  }
  void OnSequenceEnd() override { check(builder_.end_list()); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    advance(mark);
    check(builder_.begin_map(line(mark), column(mark)));
    note(anchor);
  }
  void OnMapEnd() override { check(builder_.end_map()); }

  static std::uint32_t line(const YAML::Mark& mark) {
    return static_cast<std::uint32_t>(mark.line + 1);
  }
  static std::uint32_t column(const YAML::Mark& mark) {
    return static_cast<std::uint32_t>(mark.column + 1);
  }

 private:
  static void check(bool good) {
    if (!good) throw YamlStop{};
  }

  /// yaml-cpp numbers anchors from 1 in the order of the text; 0 is none.
  void note(YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    if (anchors_.size() <= anchor) anchors_.resize(anchor + 1);
    anchors_[anchor] = builder_.last();
  }

  void advance(const YAML::Mark& mark) {
    reached_.move_to(text_, std::min(static_cast<std::size_t>(mark.pos), text_.size()));
  }

  /// Where a null is. yaml-cpp names the token after one that is not written, so: where its key is,
  /// or in a list its dash, the last one since the event before. Every byte is looked at once.
  LineAndColumn null_place(const YAML::Mark& mark) {
    if (const auto key = builder_.open_key()) {
      advance(mark);
      return {key->line, key->column};
    }
    LineAndColumn found{line(mark), column(mark)};
    const auto end = std::min(static_cast<std::size_t>(mark.pos) + 1, text_.size());
    const auto blank = [&](std::size_t i) {
      return i >= text_.size() ||
             std::string_view{" \t\r\n"}.find(text_[i]) != std::string_view::npos;
    };
    while (reached_.at < end) {
      const auto i = reached_.at;
      const bool begins = i == 0 || blank(i - 1);
      if (begins && text_[i] == '#') {
        reached_.move_to(text_, std::min(text_.find('\n', i), end));
        continue;
      }
      if (begins && text_[i] == '-' && blank(i + 1) && i + 1 < end) {
        found = {reached_.line, static_cast<std::uint32_t>(i - reached_.line_begin + 1)};
      }
      reached_.move_to(text_, i + 1);
    }
    return found;
  }

  std::string_view text_;
  DocumentBuilder& builder_;
  std::vector<std::uint32_t> anchors_{};
  TextPlace reached_{};  // the event before
};

/// Whether a text is in UTF-16 or UTF-32, told by its first bytes as YAML has it.
inline bool is_wide_text(std::string_view text) {
  if (text.size() < 2) return false;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  return first == 0 || second == 0 || (first == 0xff && second == 0xfe) ||
         (first == 0xfe && second == 0xff);
}

/// The first byte of a text in UTF-8 that YAML does not allow.
inline std::size_t find_forbidden(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    const auto size = byte < 0x80 ? 1 : utf8_size(text.substr(i, 4));
    if (control || byte == 0x7f || size == 0) return i;
    i += size;
  }
  return std::string_view::npos;
}

/// Reads a text, and then another, without copying them.
class TextBuffer final : public std::streambuf {
 public:
  TextBuffer(std::string_view text, std::string_view rest) : rest_{rest} { show(text); }

 protected:
  int_type underflow() override {
    if (rest_.empty()) return traits_type::eof();
    show(std::exchange(rest_, {}));
    return traits_type::to_int_type(*gptr());
  }

 private:
  void show(std::string_view text) {
    // Only read; the interface is older than const.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    char* const begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }

  std::string_view rest_;
};

/// Whether yaml-cpp misses the end of a list or map in brackets or braces.
inline bool is_open_end(std::string_view message) {
  return message.starts_with("end of ") && message.find("flow") != std::string_view::npos;
}

/// What yaml-cpp says, and what to change.
inline std::string in_clear_words(std::string_view message) {
  if (is_open_end(message)) {
    const bool list = message.find("sequence") != std::string_view::npos;
    return list ? "the list that begins here is not ended: add ]"
                : "the object that begins here is not ended: add }";
  }
  if (message.ends_with(" in scalar")) return "the text ends inside quotes: close them";
  std::string words{message};
  if (message == "illegal map value") {
    words.append(": indent members of one object alike, and put text with \": \" into quotes");
  } else if (message.starts_with("unknown escape character")) {
    words.append("; write \\\\ for a backslash");
  }
  return words;
}

/// What yaml-cpp found wrong, said and placed so that it can be found.
inline void refuse_yaml(const YAML::Exception& why, std::string_view text,
                        DocumentBuilder& builder) {
  std::uint32_t line = YamlEvents::line(why.mark);
  std::uint32_t column = YamlEvents::column(why.mark);
  std::string message = "not valid YAML: " + in_clear_words(why.msg);
  const auto open = builder.open_value();
  if (open && is_open_end(why.msg)) {  // where it begins, not where the text ends
    line = open->line;
    column = open->column;
  }
  const auto at = std::min(static_cast<std::size_t>(std::max(why.mark.pos, 0)), text.size());
  const auto begin = text.substr(0, at).rfind('\n') + 1;
  const auto word = text.find_first_not_of(" \t", begin);
  if (word != std::string_view::npos &&
      text.substr(begin, word - begin).find('\t') != std::string_view::npos) {
    message.append("; indent with spaces, not with tabs");
  }
  builder.refuse(Errc::syntax, std::move(message), line, column);
}

inline void build_yaml(std::string_view text, DocumentBuilder& builder) {
  const bool wide = is_wide_text(text);
  if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
  if (const auto bad = wide ? std::string_view::npos : find_forbidden(text);
      bad != std::string_view::npos) {
    const auto [line, column] = line_and_column(text, bad);
    builder.refuse(Errc::syntax,
                   "not valid YAML: not UTF-8, or a control character: save the text as UTF-8",
                   line, column);
    return;
  }
  // yaml-cpp closes an open quote by itself at the end of the last line, so that a file cut off
  // there would pass. The mark of the end of a document is an error inside quotes, and nothing
  // outside.
  const auto last_line = text.substr(std::min(text.rfind('\n') + 1, text.size()));
  const bool blank = last_line.find_first_not_of(" \t\r") == std::string_view::npos;
  const std::string_view end_mark = wide || !blank ? "" : last_line.empty() ? "...\n" : "\n...\n";
  const std::string_view known = wide ? std::string_view{} : text;
  try {
    TextBuffer buffer{text, end_mark};
    std::istream stream{&buffer};
    YAML::Parser parser{stream};
    YamlEvents events{known, builder};
    if (!parser.HandleNextDocument(events)) builder.refuse(Errc::syntax, "the text is empty", 0, 0);
  } catch (const YamlStop&) {  // the builder has the reason
  } catch (const YAML::DeepRecursion& why) {
    builder.refuse(Errc::limit, "nested deeper than yaml-cpp allows", YamlEvents::line(why.mark),
                   YamlEvents::column(why.mark));
  } catch (const YAML::Exception& why) {
    refuse_yaml(why, known, builder);
  }
}

/// The first CR from `at` on that no LF follows.
inline std::size_t find_lone_cr(std::string_view text, std::size_t at = 0) {
  do {
    at = text.find('\r', at);
    if (at == std::string_view::npos || text.substr(at + 1, 1) != "\n") return at;
    ++at;
  } while (true);
}

/// A text with LF for each CR that stands alone: to YAML both end a line, to yaml-cpp only LF does.
inline std::string without_lone_cr(std::string_view text, std::size_t first) {
  std::string out{text};
  for (auto cr = first; cr != std::string::npos; cr = find_lone_cr(out, cr)) out[cr] = '\n';
  return out;
}

}  // namespace detail

/// Parses the first document of a YAML text; `file` names it in messages. Aliases are expanded and
/// merge keys (`<<`) merged, within the limits. What is no YAML, or empty, is `Errc::syntax`; keys
/// written twice are `Errc::schema`; what is over a limit is `Errc::limit`. The text is UTF-8,
/// UTF-16 or UTF-32, and may go afterwards.
inline Result<Document> parse_yaml(std::string_view text, std::string_view file = {},
                                   const Limits& limits = {}) {
  DocumentBuilder builder{file, limits, /*merge_keys=*/true};
  if (text.size() > limits.bytes) {
    builder.refuse(Errc::limit, "more than " + std::to_string(limits.bytes) + " bytes", 0, 0);
  } else {
    // In UTF-16 and UTF-32 the byte of a CR is part of other characters too.
    const auto cr =
        detail::is_wide_text(text) ? std::string_view::npos : detail::find_lone_cr(text);
    const auto unified =
        cr == std::string_view::npos ? std::string{} : detail::without_lone_cr(text, cr);
    detail::build_yaml(unified.empty() ? text : unified, builder);
  }
  return std::move(builder).finish();
}

/// Reads a described type that owns its text from YAML text. Errors are those of `parse_yaml` and
/// of `read`. Nobody looks at the rules of CDI: `parse_spec` does.
template <Described T>
  requires(!detail::is_borrowed<T>)
Result<T> read_yaml(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

namespace detail {

/// Whether a text can stand without quotes and is text to every reader: YAML 1.1 has yes, no, on,
/// off, 007, 1_000, 1:30, .5 and more for booleans and numbers. Rather one pair of quotes too many.
inline bool is_plain_text(std::string_view text) {
  const char first = text.empty() ? ' ' : ascii_lower(text.front());
  if ((first < 'a' || first > 'z') && first != '/') return false;
  for (const std::string_view word :
       {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (same_key(text, word)) return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = ascii_lower(text[i]);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) continue;
    if (std::string_view{"/_-.=,+@%: "}.find(c) == std::string_view::npos) return false;
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == ':' && next == ' ') return false;
    if (c == ' ' && (i + 1 == text.size() || next == '#')) return false;
  }
  return true;
}

/// A text in double quotes, with what some reader would change or refuse as escapes.
inline std::string quote_yaml(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto escape = [&](char mark, std::uint32_t code, int size) {
    std::string out{'\\', mark};
    for (int shift = 4 * (size - 1); shift >= 0; shift -= 4)
      out.append(1, digits[code >> shift & 15]);
    return out;
  };
  std::string out = "\"";
  while (!text.empty()) {
    const auto character = text.substr(0, std::max<std::size_t>(utf8_size(text), 1));
    text.remove_prefix(character.size());
    std::uint32_t code = static_cast<unsigned char>(character[0]);
    if (character.size() > 1) code &= 0xffU >> (character.size() + 1);
    for (const char c : character.substr(1))
      code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
    const bool separator = code == 0x2028 || code == 0x2029 || code == 0xfeff;
    const bool no_character = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code < 0xfdf0);
    if (code == '"' || code == '\\') {
      out.append(1, '\\').append(character);
    } else if (code == '\n') {
      out.append("\\n");
    } else if (code < 0x20 || (code >= 0x7f && code <= 0xa0)) {
      out.append(escape('x', code, 2));
    } else if (separator || no_character) {
      out.append(code < 0x10000 ? escape('u', code, 4) : escape('U', code, 8));
    } else {
      out.append(character);
    }
  }
  return out.append("\"");
}

}  // namespace detail

/// A `Sink` that writes YAML text in block style, two spaces a level. Text that any reader of YAML
/// 1.1 or 1.2 would take for something else is quoted.
///
/// Each value of a map comes after its `key`, and each `begin_` has its `end_`: nobody checks it.
///
/// Our own, since yaml-cpp's emitter writes text that does not read back: a trailing carriage
/// return and DEL, for two, and `yes` and `007` come out as a boolean and a number to YAML 1.1.
class YamlSink {
 public:
  /// Begins a map.
  void begin_map() { begin({.is_list = false}); }
  /// Ends the innermost map; one without keys is `{}`.
  void end_map() { end("{}"); }
  /// Begins a list.
  void begin_list() { begin({.is_list = true}); }
  /// Ends the innermost list; one without items is `[]`.
  void end_list() { end("[]"); }
  /// A key of the innermost map; its value comes next.
  void key(std::string_view name) {
    check_.text(name);
    constexpr std::size_t longest = 1000;  // YAML wants longer keys, up to 1024 bytes, to be marked
    begin_line();
    if (name.size() > longest) out_.append("? ");
    out_.append(in_quotes_if_needed(name));
    if (name.size() > longest) out_.append("\n").append(2 * (open_.size() - 1), ' ');
    out_.append(":");
    place_ = Place::after_key;
  }
  /// A text, in double quotes where it needs them.
  void text(std::string_view value) {
    check_.text(value);
    scalar(in_quotes_if_needed(value));
  }
  /// A whole number, in decimal digits.
  void integer(std::int64_t value) { scalar(std::to_string(value)); }
  /// A whole number, in decimal digits.
  void unsigned_integer(std::uint64_t value) { scalar(std::to_string(value)); }
  /// `true` or `false`.
  void boolean(bool value) { scalar(value ? "true" : "false"); }
  /// `null`.
  void null() { scalar("null"); }
  /// A number as JSON has it. YAML 1.1 wants a point before an exponent, and a sign in it.
  void number(std::string_view value) {
    check_.number(value);
    const auto exponent = value.find_first_of("eE");
    if (exponent == std::string_view::npos) return scalar(value);
    std::string out{value.substr(0, exponent)};
    if (out.find('.') == std::string::npos) out.append(".0");
    out.append("e");
    value.remove_prefix(exponent + 1);
    if (!value.starts_with('-') && !value.starts_with('+')) out.append("+");
    scalar(out.append(value));
  }

  /// Whether all that was written is text and numbers that can be read again; `Errc::invalid` for
  /// the first that is not.
  const Result<void>& good() const { return check_.result; }

  /// The text, as one document, with `---` before it; once, after the last value.
  std::string take() && { return std::move(out_); }

 private:
  enum class Place : std::uint8_t { line_begin, after_key, after_dash };

  /// A list or map that is not ended.
  struct Level {
    bool is_list = false;
    Place begins = Place::line_begin;
    bool empty = true;
  };

  static std::string in_quotes_if_needed(std::string_view text) {
    return detail::is_plain_text(text) ? std::string{text} : detail::quote_yaml(text);
  }

  /// Begins the line of a key or dash; the first one of what stands in a list goes on after its
  /// dash.
  void begin_line() {
    Level& level = open_.back();
    if (level.empty && level.begins == Place::after_key) out_.append("\n");
    if (level.empty && level.begins == Place::after_dash) {
      out_.append(" ");
    } else {
      out_.append(2 * (open_.size() - 1), ' ');
    }
    level.empty = false;
  }

  /// Writes the dash of an item.
  void begin_value() {
    if (open_.empty() || !open_.back().is_list) return;
    begin_line();
    out_.append("-");
    place_ = Place::after_dash;
  }

  void scalar(std::string_view value) {
    begin_value();
    if (place_ != Place::line_begin) out_.append(" ");
    out_.append(value).append("\n");
    place_ = Place::line_begin;
  }

  void begin(Level level) {
    begin_value();
    level.begins = place_;
    open_.push_back(level);
  }

  void end(std::string_view nothing) {
    const Level level = open_.back();
    open_.pop_back();
    if (level.empty) {
      if (level.begins != Place::line_begin) out_.append(" ");
      out_.append(nothing).append("\n");
    }
    place_ = Place::line_begin;
  }

  std::string out_ = "---\n";
  detail::WriteCheck check_{};
  std::vector<Level> open_{};
  Place place_ = Place::line_begin;
};

/// A described type as YAML text, in the order of the field list; ends with a newline.
/// `Errc::invalid` when a text in it is not UTF-8, or a number in an `extra` is none of JSON.
/// Nobody looks at the rules of CDI: `write_spec` does.
template <Described T>
Result<std::string> write_yaml(const T& value) {
  YamlSink sink;
  cdi::write(value, sink);
  if (!sink.good()) return sink.good().error();
  return std::move(sink).take();
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_YAML_HPP
