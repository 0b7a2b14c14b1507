// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_JSON_TEXT_HPP
#define CDI_JSON_TEXT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/parse_json.hpp>
#include <cdi/read.hpp>
#include <cdi/result.hpp>
#include <cdi/storage.hpp>
#include <cdi/unicode.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Appends the first character of a text, which is not printable ASCII or has to be escaped. Gives
/// its size.
inline std::size_t append_special(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view names = "\"\\bfnrt";
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte >= 0x80) {
    const auto character = text.substr(0, std::max<std::size_t>(utf8_size(text), 1));
    if (is_unportable(character)) {
      append_code_point(character, out);
    } else {
      out.append(character);
    }
    return character.size();
  }
  if (const auto which = escaped.find(text.front()); which != escaped.npos) {
    out.append(1, '\\').append(1, names[which]);
  } else {
    out.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  return 1;
}

/// Appends a text as a JSON string. What RFC 8259 asks for is escaped, and what readers do not take
/// that read JSON as YAML, such as the Go reference.
inline void append_json_string(std::string& out, std::string_view text) {
  const auto is_plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
  };
  out.push_back('"');
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && is_plain(text[size])) ++size;
    if (size == 0) {
      size = append_special(out, text);
    } else {
      out.append(text, 0, size);
    }
    text.remove_prefix(size);
  }
  out.push_back('"');
}

}  // namespace detail

/// A `Sink` that writes JSON text: indented by `indent` spaces a level, or on one line when it is
/// negative; without a newline at the end. Numbers keep their text.
///
/// Each value of a map comes after its `key`, and each `begin_` has its `end_`: nobody checks it.
class JsonTextSink {
 public:
  /// Writes with this indentation.
  explicit JsonTextSink(int indent = 2) : indent_{indent} {}

  /// Begins a map.
  void begin_map() { begin('{'); }
  /// Ends the innermost map.
  void end_map() { end('}'); }
  /// Begins a list.
  void begin_list() { begin('['); }
  /// Ends the innermost list.
  void end_list() { end(']'); }
  /// A key of the innermost map; its value comes next.
  void key(std::string_view name) {
    check_.text(name);
    begin_item();
    detail::append_json_string(out_, name);
    out_.append(indent_ < 0 ? ":" : ": ");
    after_key_ = true;
  }
  /// A text.
  void text(std::string_view value) {
    check_.text(value);
    begin_value();
    detail::append_json_string(out_, value);
  }
  /// A whole number.
  void integer(std::int64_t value) { word(std::to_string(value)); }
  /// A whole number.
  void unsigned_integer(std::uint64_t value) { word(std::to_string(value)); }
  /// `true` or `false`.
  void boolean(bool value) { word(value ? "true" : "false"); }
  /// A number as JSON has it.
  void number(std::string_view value) {
    check_.number(value);
    word(value);
  }
  /// `null`.
  void null() { word("null"); }

  /// Whether all that was written is text and numbers that can be read again; `Errc::invalid` for
  /// the first that is not.
  const Result<void>& good() const { return check_.result; }

  /// The text; once, after the last value.
  std::string take() && { return std::move(out_); }

 private:
  void begin_item() {
    if (open_ == 0) return;
    if (!empty_) out_.push_back(',');
    empty_ = false;
    begin_line();
  }

  void begin_line() {
    if (indent_ < 0) return;
    out_.push_back('\n');
    out_.append(open_ * static_cast<std::size_t>(indent_), ' ');
  }

  void begin_value() {
    if (!std::exchange(after_key_, false)) begin_item();
  }

  void word(std::string_view value) {
    begin_value();
    out_.append(value);
  }

  void begin(char bracket) {
    begin_value();
    out_.push_back(bracket);
    ++open_;
    empty_ = true;
  }

  void end(char bracket) {
    --open_;
    if (!empty_) begin_line();
    out_.push_back(bracket);
    empty_ = false;  // what was ended is an item of the one around it
  }

  int indent_;
  std::string out_{};
  detail::WriteCheck check_{};
  std::size_t open_ = 0;    // lists and maps that are not ended
  bool empty_ = true;       // the innermost one has no item
  bool after_key_ = false;  // a value comes next
};

/// Reads a described type that owns its text from JSON text. Errors are those of `parse_json` and
/// of `read`. The rules of CDI are not checked: `parse_spec` does that.
template <Described T>
  requires(!detail::is_borrowed<T>)
Result<T> read_json(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_json(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

/// A described type as JSON text, indented by `indent` spaces, on one line when negative; without a
/// newline at the end. `Errc::invalid` when a text in it is not UTF-8, or a number in an `extra` is
/// not one of JSON. The rules of CDI are not checked: `write_spec` does that.
template <Described T>
Result<std::string> write_json(const T& value, int indent = 2) {
  JsonTextSink sink{indent};
  cdi::write(value, sink);
  if (!sink.good()) return sink.good().error();
  return std::move(sink).take();
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_JSON_TEXT_HPP
