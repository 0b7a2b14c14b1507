// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_JSON_HPP
#define CDI_JSON_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/read.hpp>
#include <cdi/result.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Turns nlohmann's SAX events into a document.
///
/// The events carry no position, but they come in the order of the text: each one's token is the
/// first after the token before, separators aside, so walking along the text finds it.
class JsonEvents {
 public:
  JsonEvents(std::string_view text, DocumentBuilder& builder) : text_{text}, builder_{builder} {}

  bool null() {
    next_token();
    return builder_.null(line_, column_);
  }
  bool boolean(bool) { return plain(); }
  bool number_integer(std::int64_t) { return plain(); }
  bool number_unsigned(std::uint64_t) { return plain(); }
  bool number_float(double, const std::string&) { return plain(); }
  bool string(const std::string& value) {
    next_token();
    return builder_.scalar(value, /*quoted=*/true, line_, column_);
  }
  bool key(const std::string& value) { return string(value); }
  static bool binary(const nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) {
    next_token();
    return builder_.begin_map(line_, column_);
  }
  bool end_object() {
    next_token();
    return builder_.end_map();
  }
  bool start_array(std::size_t) {
    next_token();
    return builder_.begin_list(line_, column_);
  }
  bool end_array() {
    next_token();
    return builder_.end_list();
  }
  bool parse_error(std::size_t read, const std::string&, const nlohmann::json::exception& why) {
    // `read` bytes were read, the last of them the one that is wrong.
    const auto [line, column] = line_and_column(text_, read == 0 ? 0 : read - 1);
    std::string_view reason = why.what();
    for (const std::string_view lead :
         {"] ", ": "}) {  // "[json.exception.x.101] parse error at ...: "
      const auto end = reason.find(lead);
      if (end != std::string_view::npos) reason.remove_prefix(end + lead.size());
    }
    reason = reason.substr(0, reason.find("; last read"));  // may be the whole text
    return builder_.refuse(Errc::syntax, "not valid JSON: " + in_clear_words(reason), line, column);
  }

 private:
  /// What nlohmann says, and what to change.
  std::string in_clear_words(std::string_view reason) const {
    if (const auto dash = reason.find(" - "); dash != std::string_view::npos) {
      reason.remove_prefix(dash + 3);  // "syntax error while parsing object - "
    }
    const auto open = builder_.open_value();
    if (open && reason.starts_with("unexpected end of input")) {
      return "the text ends inside what begins in line " + std::to_string(open->line) +
             ", column " + std::to_string(open->column) + ": end it";
    }
    std::string words{reason};
    for (const std::string_view closing : {"expected '}'", "expected ']'"}) {
      if (words.ends_with(closing)) words.insert(words.size() - 3, "',' or ");
    }
    if (words.starts_with("unexpected '}'; expected string") ||
        words.starts_with("unexpected ']'; expected '['")) {
      words.append("; remove the comma before it");
    }
    if (words.ends_with("after backslash")) words.append("; write \\\\ for a backslash");
    return words;
  }

  bool plain() {
    const auto token = next_token();
    return builder_.scalar(token, /*quoted=*/false, line_, column_);
  }

  /// Moves over the next token, noting where it begins.
  std::string_view next_token() {
    for (; std::string_view{" \t\r\n,:"}.find(text_[at_]) != std::string_view::npos; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
    const auto begin = at_;
    column_ = static_cast<std::uint32_t>(begin - line_begin_ + 1);
    if (text_[at_] == '"') {
      for (++at_; text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      ++at_;
    } else if (std::string_view{"{}[]"}.find(text_[at_]) != std::string_view::npos) {
      ++at_;
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  DocumentBuilder& builder_;
};

/// A sink that makes a value of a `nlohmann::basic_json`.
template <class Json>
class JsonSink {  // NOLINT(bugprone-exception-escape)
 public:
  void begin_map() { open_.push_back(&place(Json::object())); }
  void end_map() { open_.pop_back(); }
  void begin_list() { open_.push_back(&place(Json::array())); }
  void end_list() { open_.pop_back(); }
  void key(std::string_view name) {
    check_.text(name);
    key_ = name;
  }
  void text(std::string_view value) {
    check_.text(value);
    place(std::string{value});
  }
  void integer(std::int64_t value) {
    // Numbers that text would give as unsigned are so here too: the two compare equal, but not all
    // users ask for both.
    if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
    place(value);
  }
  void unsigned_integer(std::uint64_t value) { place(value); }
  void boolean(bool value) { place(value); }
  void number(std::string_view value) {
    check_.number(value);
    Json number = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    place(number.is_number() ? std::move(number) : Json(value));  // 1e999 is too large for it
  }
  void null() { place(nullptr); }

  /// Whether all that was written is text and numbers that can be read again.
  const Result<void>& good() const { return check_.result; }

  Json take() && { return std::move(root_); }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& outer = *open_.back();
    if (outer.is_array()) {
      outer.push_back(std::move(value));
      return outer.back();
    }
    auto& members = outer.template get_ref<typename Json::object_t&>();
    if constexpr (requires { members.push_back({std::string{}, Json{}}); }) {
      members.push_back({std::string{key_}, std::move(value)});  // keys differ: no need to look
      return members.back().second;
    } else {
      return members[std::string{key_}] = std::move(value);
    }
  }

  Json root_{};
  std::vector<Json*>
      open_{};  // stays valid: an outer value does not grow while an inner one is open
  std::string_view key_{};
  WriteCheck check_{};
};

}  // namespace detail

/// Parses a JSON text into a document; `file` names it in messages. Refuses what RFC 8259 does,
/// with `Errc::syntax`; keys written twice, with `Errc::schema`; what is over a limit, with
/// `Errc::limit`. Skips a byte order mark. The text may go afterwards. Costs one pass with
/// nlohmann's SAX parser and no DOM.
inline Result<Document> parse_json(std::string_view text, std::string_view file = {},
                                   const Limits& limits = {}) {
  DocumentBuilder builder{file, limits, /*merge_keys=*/false};
  if (text.size() > limits.bytes) {
    builder.refuse(Errc::limit, "more than " + std::to_string(limits.bytes) + " bytes", 0, 0);
    return std::move(builder).finish();
  }
  if (text.starts_with(detail::utf8_mark)) text.remove_prefix(detail::utf8_mark.size());
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto [line, column] = detail::line_and_column(text, nul);  // nlohmann would end there
    builder.refuse(Errc::syntax, "not valid JSON: a NUL byte", line, column);
    return std::move(builder).finish();
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.refuse(Errc::syntax, "the text is empty", 1, 1);
    return std::move(builder).finish();
  }
  detail::JsonEvents events{text, builder};
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &events) && !builder.failed()) {
    builder.refuse(Errc::syntax, "not valid JSON", 0, 0);
  }
  return std::move(builder).finish();
}

/// Reads a described type that owns its text from JSON text. Errors are those of `parse_json` and
/// of `read`. Nobody looks at the rules of CDI: `parse_spec` does.
template <Described T>
  requires(!detail::is_borrowed<T>)
Result<T> read_json(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_json(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

/// A described type as a JSON value; members in the order of the field list for `ordered_json`.
/// Text that is not UTF-8 gets in, and makes `dump` throw: `write_json` refuses it instead.
template <class Json = nlohmann::ordered_json, Described T>
Json to_json_value(const T& value) {
  detail::JsonSink<Json> sink;
  cdi::write(value, sink);
  return std::move(sink).take();
}

/// A described type as JSON text, indented by `indent` spaces, on one line when negative; without a
/// newline at the end. `Errc::invalid` when a text in it is not UTF-8, or a number in an `extra` is
/// none of JSON. Nobody looks at the rules of CDI: `write_spec` does.
template <Described T>
Result<std::string> write_json(const T& value, int indent = 2) {
  detail::JsonSink<nlohmann::ordered_json> sink;
  cdi::write(value, sink);
  if (!sink.good()) return sink.good().error();
  return std::move(sink).take().dump(indent);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_JSON_HPP
