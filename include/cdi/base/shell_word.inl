// The bodies of <cdi/base/shell_word.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_SHELL_WORD_INL
#define CDI_BASE_SHELL_WORD_INL

#include <cdi/base/result.hpp>
#include <cdi/base/shell_word.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Whether no shell treats a character specially outside quotes.
constexpr bool is_plain_in_shell(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') ||
         std::string_view{"_-./:=+,@"}.find(c) != std::string_view::npos;
}

/// Whether no shell treats a character of a text specially. Most paths are such texts.
constexpr bool is_plain_in_shell(std::string_view text) {
  for (const char c : text) {
    if (!is_plain_in_shell(c)) return false;
  }
  return true;
}

/// Whether messages show a text unchanged, apart from double quotes and backslashes.
inline bool is_shown(std::string_view text) {
  std::string other;
  for (const char c : text) {
    if (c == '`') return false;
    if (c != '"' && c != '\\') other += c;
  }
  return cdi::escaped(other, std::string::npos) == other;
}

inline std::string in_single_quotes(std::string_view text) {
  std::string out{"'"};
  for (const char c : text) c == '\'' ? out.append("'\\''") : out.append(1, c);
  return out.append("'");
}

/// A `printf` command that prints the text, with plain characters and octal escapes in its format.
inline std::string by_printf(std::string_view text) {
  std::string out{"\"$(printf '"};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain_in_shell(c)) {
      out.append(1, c);
    } else {
      out.append(1, '\\').append(1, static_cast<char>('0' + (byte >> 6)));
      out.append(1, static_cast<char>('0' + ((byte >> 3) & 7)));
      out.append(1, static_cast<char>('0' + (byte & 7)));
    }
  }
  return out.append("')\"");
}

}  // namespace detail

CDI_INLINE std::string shell_word(std::string_view path) {
  std::string text{path.starts_with('-') ? "./" : ""};
  text.append(path).append(path.ends_with('\n') ? "/" : "");
  const bool may_be_bare = !text.empty() && text.front() != '=';  // zsh runs `which b` for =b
  if (may_be_bare && detail::is_plain_in_shell(text)) return text;
  return detail::is_shown(text) ? detail::in_single_quotes(text) : detail::by_printf(text);
}

}  // namespace cdi

#endif  // CDI_BASE_SHELL_WORD_INL
