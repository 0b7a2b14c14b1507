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

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/read.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Thrown and caught in this header: the one way to stop yaml-cpp in the middle of a text.
struct YamlStop {};

/// Turns yaml-cpp's events into a document.
class YamlEvents final : public YAML::EventHandler {
 public:
  YamlEvents(std::string_view text, DocumentBuilder& builder) : text_{text}, builder_{builder} {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto place = null_place(mark);
    check(builder_.null(line(place), column(place)));
    note(anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(builder_.copy(anchors_.at(anchor), line(mark), column(mark)));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
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
    check(builder_.begin_list(line(mark), column(mark)));
    note(anchor);
  }
  void OnSequenceEnd() override { check(builder_.end_list()); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
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

  /// Where a null is: for one that is not written, not at the token after it, which yaml-cpp names,
  /// but at the dash or colon before it.
  YAML::Mark null_place(YAML::Mark mark) const {
    const auto at = std::min(static_cast<std::size_t>(mark.pos), text_.size());
    if (at < text_.size() && std::string_view{"~nN"}.find(text_[at]) != std::string_view::npos)
      return mark;
    const auto before = text_.substr(0, at).find_last_not_of(" \t\r\n");
    if (before == std::string_view::npos) return mark;
    const auto between = text_.substr(before, at - before);
    mark.line -= static_cast<int>(std::count(between.begin(), between.end(), '\n'));
    const auto line_end = text_.substr(0, before).rfind('\n');
    mark.column =
        static_cast<int>(before - (line_end == std::string_view::npos ? 0 : line_end + 1));
    return mark;
  }

  std::string_view text_;
  DocumentBuilder& builder_;
  std::vector<std::uint32_t> anchors_{};
};

/// The first byte of a text that YAML does not allow: not UTF-8, or a control character. Text in
/// UTF-16 or UTF-32, told by its first bytes, is left to yaml-cpp.
inline std::size_t find_forbidden(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0xffU;
  };
  if (byte(0) == 0 || byte(1) == 0 || (byte(0) >= 0xfe && byte(1) >= 0xfe))
    return std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = byte(i);
    if (c < 0x20 ? c != '\t' && c != '\n' && c != '\r' : c == 0x7f) return i;
    if (c < 0x80) continue;
    const std::size_t size = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (!is_utf8(text.substr(i, size))) return i;
    i += size - 1;
  }
  return std::string_view::npos;
}

/// Reads a text without copying it.
class TextBuffer final : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    // Only read; the interface is older than const.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    char* const begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

/// Whether a text written without quotes would be taken for something else by one of the readers in
/// use: YAML 1.1 has yes, no, on, off, 007, 1_000, 1:30, .5 and more for booleans and numbers.
inline bool needs_quotes(std::string_view text) {
  const bool letter =
      !text.empty() && ascii_lower(text.front()) >= 'a' && ascii_lower(text.front()) <= 'z';
  if (!letter && !text.starts_with('/')) return true;
  for (const std::string_view word :
       {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (same_key(text, word)) return true;
  }
  return false;
}

}  // namespace detail

/// Parses the first document of a YAML text; `file` names it in messages. Aliases are expanded and
/// merge keys (`<<`) merged, within the limits; keys written twice are refused.
inline Result<Document> parse_yaml(std::string_view text, std::string_view file = {},
                                   const Limits& limits = {}) {
  DocumentBuilder builder{file, limits, /*merge_keys=*/true};
  if (text.size() > limits.bytes) {
    builder.refuse(Errc::limit, "more than " + std::to_string(limits.bytes) + " bytes", 0, 0);
    return std::move(builder).finish();
  }
  if (const auto bad = detail::find_forbidden(text); bad != std::string_view::npos) {
    const auto [line, column] = detail::line_and_column(text, bad);
    builder.refuse(Errc::syntax, "a byte that is neither UTF-8 nor printable", line, column);
    return std::move(builder).finish();
  }
  try {
    detail::TextBuffer buffer{text};
    std::istream stream{&buffer};
    YAML::Parser parser{stream};
    detail::YamlEvents events{text, builder};
    if (!parser.HandleNextDocument(events)) builder.refuse(Errc::syntax, "the text is empty", 0, 0);
  } catch (const detail::YamlStop&) {  // the builder has the reason
  } catch (const YAML::Exception& why) {
    builder.refuse(Errc::syntax, "not valid YAML: " + why.msg, detail::YamlEvents::line(why.mark),
                   detail::YamlEvents::column(why.mark));
  }
  return std::move(builder).finish();
}

/// Reads a described type that owns its text from YAML text.
template <Described T>
Result<T> read_yaml(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

/// A sink that writes YAML text through yaml-cpp's emitter. Text that YAML 1.1 or 1.2 would take
/// for a number, a boolean or null is quoted.
class YamlSink {
 public:
  YamlSink() { out_ << YAML::BeginDoc; }

  void begin_map() { out_ << YAML::BeginMap; }
  void end_map() { out_ << YAML::EndMap; }
  void begin_list() { out_ << YAML::BeginSeq; }
  void end_list() { out_ << YAML::EndSeq; }
  void key(std::string_view name) {
    out_ << YAML::Key;
    text(name);
    out_ << YAML::Value;
  }
  void text(std::string_view value) {
    if (detail::needs_quotes(value)) out_ << YAML::DoubleQuoted;
    out_ << std::string{value};
  }
  void integer(std::int64_t value) { out_ << value; }
  void boolean(bool value) { out_ << value; }
  void null() { out_ << YAML::Null; }
  /// A number as written, such as `1.5e3`.
  void number(std::string_view text) { out_ << std::string{text}; }

  /// The text so far, as one document.
  std::string take() const { return std::string{out_.c_str(), out_.size()}.append("\n"); }

 private:
  YAML::Emitter out_{};
};

/// A described type as YAML text, in the order of the field list. Fails when a text in it is not
/// UTF-8.
template <Described T>
Result<std::string> write_yaml(const T& value) {
  if (auto good = detail::check_utf8(value); !good) return good.error();
  YamlSink sink;
  cdi::write(value, sink);
  return sink.take();
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_YAML_HPP
