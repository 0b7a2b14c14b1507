// Text wrapped at words.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "../base/text.hpp"

namespace tools {

/// The words of `text` after `start`, in lines of at most `width` columns, each with a line end.
/// The lines after the first begin with `indent` spaces. A longer word has a line of its own.
inline std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0,
                           std::string start = {}) {
  std::string out;
  std::string line = std::move(start);
  bool is_begun = false;  // the line has a word
  for (const auto& word : split(text, " \n")) {
    if (is_begun && line.size() + 1 + word.size() > width) {
      out.append(line).append("\n");
      line.assign(indent, ' ');
      is_begun = false;
    }
    if (is_begun) line += ' ';
    line += word;
    is_begun = true;
  }
  return out.append(line).append("\n");
}

/// A row of a list in two columns: a term, indented by two, and its meaning in column `column`,
/// on the next line if the term is too long.
inline std::string wrapped_row(std::string_view term, std::string_view meaning, std::size_t column,
                               std::size_t width) {
  std::string start = std::string{"  "}.append(term);
  std::string out;
  if (start.size() + 2 > column) {
    out = start.append("\n");
    start.clear();
  }
  if (meaning.empty() && !out.empty()) return out;
  if (meaning.empty()) return start.append("\n");
  start.resize(column, ' ');
  return out + wrapped(meaning, width, column, start);
}

}  // namespace tools
