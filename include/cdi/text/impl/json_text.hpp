// The bodies of <cdi/text/json_text.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_IMPL_JSON_TEXT_HPP
#define CDI_TEXT_IMPL_JSON_TEXT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/text/json_text.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/write.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Appends the first character of a text, which is not printable ASCII or must be escaped. Returns
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

/// Appends a text as a JSON string. Characters are escaped when RFC 8259 requires it, or when
/// readers refuse them that read JSON as YAML, such as the Go reference.
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

CDI_INLINE void JsonTextSink::key(std::string_view name) {
  check_.text(name);
  begin_item();
  detail::append_json_string(out_, name);
  out_.append(indent_ < 0 ? ":" : ": ");
  after_key_ = true;
}

CDI_INLINE void JsonTextSink::text(std::string_view value) {
  check_.text(value);
  begin_value();
  detail::append_json_string(out_, value);
}

CDI_INLINE void JsonTextSink::integer(std::int64_t value) {
  word(std::to_string(value));
}

CDI_INLINE void JsonTextSink::unsigned_integer(std::uint64_t value) {
  word(std::to_string(value));
}

CDI_INLINE void JsonTextSink::number(std::string_view value) {
  check_.number(value);
  word(value);
}

CDI_INLINE void JsonTextSink::begin_item() {
  if (open_ == 0) return;
  if (!empty_) out_.push_back(',');
  empty_ = false;
  begin_line();
}

CDI_INLINE void JsonTextSink::begin_line() {
  if (indent_ < 0) return;
  out_.push_back('\n');
  out_.append(open_ * static_cast<std::size_t>(indent_), ' ');
}

CDI_INLINE void JsonTextSink::begin_value() {
  if (!std::exchange(after_key_, false)) begin_item();
}

CDI_INLINE void JsonTextSink::word(std::string_view value) {
  begin_value();
  out_.append(value);
}

CDI_INLINE void JsonTextSink::begin(char bracket) {
  begin_value();
  out_.push_back(bracket);
  ++open_;
  empty_ = true;
}

CDI_INLINE void JsonTextSink::end(char bracket) {
  --open_;
  if (!empty_) begin_line();
  out_.push_back(bracket);
  empty_ = false;  // the one around it has an item
}

namespace detail {

CDI_INLINE Result<std::string> write_json_text(const void* self, const Type& type, int indent) {
  return detail::write_to(JsonTextSink{indent}, self, type);
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_IMPL_JSON_TEXT_HPP
