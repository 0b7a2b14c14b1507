// The bodies of <cdi/base/result.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_RESULT_INL
#define CDI_BASE_RESULT_INL

#include <cdi/base/result.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

CDI_INLINE std::string inner_path(std::string_view outer, std::string_view where) {
  const bool dotted = !outer.empty() && !where.empty() && where.front() != '[';
  return std::string{outer}.append(dotted ? "." : "").append(where);
}

CDI_INLINE std::string item_path(std::string_view name, std::size_t index) {
  std::string path{name};
  path.append("[").append(std::to_string(index)).append("]");
  return path;
}

CDI_INLINE std::string MemberPath::text() const {
  std::string out = outer == nullptr ? "" : outer->text();
  if (!out.empty() && !key.empty()) out.append(".");
  return index == no_index ? out.append(key) : item_path(out.append(key), index);
}

CDI_INLINE bool take_number(std::string_view& text, std::uint32_t& number) {
  std::uint64_t value = 0;
  std::size_t size = 0;
  for (; size < text.size() && text[size] >= '0' && text[size] <= '9'; ++size) {
    value = value * 10 + static_cast<std::uint64_t>(text[size] - '0');
    if (value > 0xffff'ffff) return false;
  }
  if (size == 0) return false;
  text.remove_prefix(size);
  number = static_cast<std::uint32_t>(value);
  return true;
}

/// Whether a 2-byte or 3-byte UTF-8 character can make a terminal or viewer show a different text:
/// C1 controls, invisible characters, line and paragraph separators, and direction changes.
constexpr bool is_deceptive(std::string_view character) noexcept {
  if (character.size() != 2 && character.size() != 3) return false;
  const unsigned code = bmp_code_point(character);
  const auto within = [code](unsigned first, unsigned last) {
    return code >= first && code <= last;
  };
  return within(0x80, 0x9f) || code == 0xad || code == 0x34f || code == 0x61c ||
         within(0x115f, 0x1160) || within(0x17b4, 0x17b5) || within(0x180b, 0x180f) ||
         within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) ||
         code == 0x3164 || within(0xfe00, 0xfe0f) || code == 0xfeff || code == 0xffa0 ||
         within(0xfff0, 0xfffb);
}

CDI_INLINE void append_code_point(std::string_view character, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  const unsigned code = bmp_code_point(character);
  out.append("\\u");
  for (const int shift : {12, 8, 4, 0}) out.append(1, digits[code >> shift & 15]);
}

}  // namespace detail

CDI_INLINE std::string escaped(std::string_view text, std::size_t longest) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view tags = "\xf3\xa0";  // start U+E0000 to U+E0FFF, which are invisible
  std::string out;
  while (!text.empty()) {
    if (out.size() >= longest) return out.append("...");
    const auto size = detail::utf8_size(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (text.front() == '"' || text.front() == '\\') {
      out.append(1, '\\').append(1, text.front());
    } else if (text.front() == '\n') {
      out.append(1, '\\').append(1, 'n');  // g++ 12 warns about append("\\n") and "\\x"
    } else if (size == 0 || byte < 0x20 || byte == 0x7f || text.starts_with(tags)) {
      out.append(1, '\\').append(1, 'x').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else if (detail::is_deceptive(text.substr(0, size))) {
      detail::append_code_point(text.substr(0, size), out);
    } else {
      out.append(text.substr(0, size));
    }
    text.remove_prefix(size == 0 || text.starts_with(tags) ? 1 : size);
  }
  return out;
}

CDI_INLINE std::string quoted(std::string_view text) {
  return cdi::escaped(text).insert(0, "\"").append("\"");
}

namespace detail {

CDI_INLINE Error not_utf8(std::string_view text) {
  return {.code = Errc::invalid, .message = "text " + cdi::quoted(text) + " is not UTF-8"};
}

CDI_INLINE std::string advised_message(const Error& error) {
  return error.advice.empty() ? error.message : error.message + ": " + error.advice;
}

}  // namespace detail

CDI_INLINE std::string to_string(const Error& error) {
  std::string out = cdi::escaped(error.position.file, std::string::npos);
  if (error.position.line != 0) {
    out.append(out.empty() ? "line " : ":").append(std::to_string(error.position.line));
    if (const auto column = error.position.column; column != 0) {
      out.append(1, ':').append(std::to_string(column));
    }
  }
  if (!out.empty()) out.append(": ");
  constexpr std::size_t longest = 400;
  if (!error.where.empty()) out.append(cdi::escaped(error.where, longest)).append(": ");
  return out.append(detail::advised_message(error));
}

}  // namespace cdi

#endif  // CDI_BASE_RESULT_INL
