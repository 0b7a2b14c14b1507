// The bodies of <cdi/text/json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_JSON_INL
#define CDI_TEXT_JSON_INL

#include <cstring>

#include <cdi/base/order.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/unicode.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

constexpr bool is_special(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\';
}

/// Copies a word; returns false if it contains a special byte.
template <class Word>
bool copy_plain_word(const char* from, char* to) noexcept {
  Word word{};
  std::memcpy(&word, from, sizeof word);
  std::memcpy(to, &word, sizeof word);
  return mark_string_end(sizeof word < 8 ? eight_of(' ') << 32 | word : word) == 0;
}

/// Copies the leading bytes that need no escape, and returns their number. The bytes after them may
/// also be overwritten.
inline std::size_t copy_plain(std::string_view text, char* to) noexcept {
  const char* const from = text.data();
  const std::size_t size = text.size();
  std::size_t i = 0;
  if (size >= 8) {  // the last word may overlap the previous word
    while (i + 8 < size && copy_plain_word<std::uint64_t>(from + i, to + i)) i += 8;
    if (i + 8 >= size && copy_plain_word<std::uint64_t>(from + size - 8, to + size - 8))
      return size;
  } else if (size >= 4 && copy_plain_word<std::uint32_t>(from, to) &&
             copy_plain_word<std::uint32_t>(from + size - 4, to + size - 4)) {
    return size;
  }
  for (; i < size && !is_special(from[i]); ++i) to[i] = from[i];
  return i;
}

}  // namespace detail

CDI_INLINE JsonTextSink::JsonTextSink(int indent) : is_spaced_{indent >= 0} {
  if (indent < 0) return;
  line_ = "\n";
  unit_.assign(static_cast<std::size_t>(indent), ' ');
}

CDI_INLINE std::string JsonTextSink::take() && {
  out_.resize(size_);
  return std::move(out_);
}

/// Makes room for this many bytes and returns the end of the output.
CDI_INLINE char* JsonTextSink::room(std::size_t bytes) {
  if (out_.size() - size_ < bytes) out_.resize(2 * out_.size() + bytes + 256);
  return out_.data() + size_;
}

CDI_INLINE void JsonTextSink::put(char c) {
  *room(1) = c;
  ++size_;
}

CDI_INLINE void JsonTextSink::put(std::string_view text) {
  size_ += text.copy(room(text.size()), text.size());  // not memcpy: an empty text may be null
}

/// Writes the first character of a text, which is not printable ASCII or needs an escape. Returns
/// the character's size.
CDI_INLINE std::size_t JsonTextSink::put_special(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view names = "\"\\bfnrt";
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte >= 0x80) {
    const auto size = detail::utf8_size(text);
    const auto character = text.substr(0, detail::max<std::size_t>(size, 1));
    std::string number;
    if (detail::is_unportable(character)) detail::append_code_point(character, number);
    put(number.empty() ? character : number);
    return character.size();
  }
  put('\\');
  if (const auto which = escaped.find(text.front()); which != escaped.npos) {
    put(names[which]);
  } else {
    put("u00");
    put(digits[byte >> 4]);
    put(digits[byte & 15]);
  }
  return 1;
}

/// Writes a text as a JSON string. Escapes characters where RFC 8259 requires it, or where programs
/// that read JSON as YAML, such as the Go reference, would reject them.
CDI_INLINE void JsonTextSink::put_string(std::string_view text) {
  char* to = room(text.size() + 2);
  *to = '"';
  std::size_t at = detail::copy_plain(text, to + 1);
  size_ += at + 1;
  if (at < text.size()) check_.text(text);
  while (at < text.size()) {
    at += put_special(text.substr(at));
    to = room(text.size() - at + 1);
    const std::size_t plain = detail::copy_plain(text.substr(at), to);
    size_ += plain;
    at += plain;
  }
  out_[size_++] = '"';
}

CDI_INLINE void JsonTextSink::key(std::string_view name) {
  begin_item();
  put_string(name);
  put(':');
  if (is_spaced_) put(' ');
  after_key_ = true;
}

CDI_INLINE void JsonTextSink::text(std::string_view value) {
  begin_value();
  put_string(value);
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
  if (!empty_) put(',');
  if (!empty_ && is_spaced_ && line_.empty()) put(' ');
  empty_ = false;
  begin_line();
}

CDI_INLINE void JsonTextSink::begin_line() {
  if (line_.empty()) return;
  put(line_);
  for (std::size_t i = 0; i < open_; ++i) put(unit_);
}

CDI_INLINE void JsonTextSink::begin_value() {
  if (!std::exchange(after_key_, false)) begin_item();
}

CDI_INLINE void JsonTextSink::word(std::string_view value) {
  begin_value();
  put(value);
}

CDI_INLINE void JsonTextSink::begin(char bracket) {
  begin_value();
  put(bracket);
  ++open_;
  empty_ = true;
}

CDI_INLINE void JsonTextSink::end(char bracket) {
  --open_;
  if (!empty_) begin_line();
  put(bracket);
  empty_ = false;  // the enclosing value now has an item
}

namespace detail {

/// Appends a text as a JSON string.
inline void append_json_string(std::string& out, std::string_view text) {
  JsonTextSink sink{-1};
  sink.text(text);
  out.append(std::move(sink).take());
}

CDI_INLINE Result<std::string> write_json_text(const void* self, const Type& type, int indent) {
  return detail::write_to(JsonTextSink{indent}, self, type);
}

}  // namespace detail

}  // namespace cdi

#endif  // CDI_TEXT_JSON_INL
