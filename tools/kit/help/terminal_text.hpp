// Messages and explanations, wrapped for people who read them on a terminal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unistd.h>

#include "text_width.hpp"

namespace tools {

namespace detail {

/// The size of the next word, and of the blanks before it. A command in backquotes is one word, so
/// that it can be copied from a terminal.
inline std::size_t next_word(std::string_view text) {
  auto end = std::min(text.find_first_not_of(' '), text.size());
  bool quoted = false;
  for (; end < text.size() && (quoted || text[end] != ' '); ++end) {
    if (text[end] == '`') quoted = !quoted && text.find('`', end + 1) != text.npos;
  }
  return end;
}

}  // namespace detail

/// Wraps lines of text at `width` columns. Continuation lines are indented by two more columns.
/// Longer words and commands in backquotes are not broken.
inline std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    std::size_t column = 0;
    while (!line.empty()) {
      const auto size = detail::next_word(line);
      const auto word = line.substr(0, size);
      const auto bare = std::min(word.find_first_not_of(' '), word.size());
      if (column > indent + 2 && column + size > width) {
        out.append("\n").append(indent + 2, ' ').append(word.substr(bare));
        column = indent + 2 + size - bare;
      } else {
        out.append(word);
        column += size;
      }
      line.remove_prefix(size);
    }
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Text for a stream: wrapped for a terminal, unchanged for programs.
inline std::string text_for(int stream, std::string_view text) {
  return ::isatty(stream) == 1 ? wrapped_lines(text, text_width(stream)) : std::string{text};
}

}  // namespace tools
