// Small text functions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tools {

/// The nonempty parts of `text` between `separators`.
inline std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;
       (at = text.find_first_not_of(separators, at)) != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

/// Joins texts with commas, the first `max` of them; `none` for an empty list.
inline std::string listed(const std::vector<std::string>& texts,
                          std::size_t max = std::string::npos) {
  std::string out;
  for (std::size_t i = 0; i < texts.size() && i < max; ++i) {
    out.append(i == 0 ? "" : ", ").append(texts[i]);
  }
  if (texts.size() > max) out += " and " + std::to_string(texts.size() - max) + " more";
  return out.empty() ? "none" : out;
}

/// `text` without white space at both ends.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

/// Whether a character is printable ASCII.
inline bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

/// Whether a text contains only printable ASCII, which every spec can hold.
inline bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
}

/// `text` with a question mark for each byte that is not printable ASCII, so that text from a
/// device or driver cannot control a terminal, and can be written to a spec.
inline std::string printable(std::string_view text) {
  std::string out{text};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_plain(c); }, '?');
  return out;
}

/// The number in `text`, which must contain nothing else; a hexadecimal number may begin with 0x.
template <std::integral T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  T value{};
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace tools
