// The notes at the end of a command's help: paragraphs, lists and examples.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wrapped.hpp"

namespace tools {

/// A part of the notes.
struct Note {
  enum class Kind {
    paragraph,
    row,      // of a list: a term, which may be empty, and its meaning
    literal,  // a line of an example, printed as it is
    space,    // between other parts
  };

  Kind kind;
  std::string text{};
  std::string term{};
};

namespace detail {

/// The row in a line of a list, whose term ends at two spaces.
inline Note list_row(std::string_view line) {
  line = trim(line);
  const auto gap = line.find("  ");
  if (gap == std::string_view::npos) return {Note::Kind::row, std::string{line}, {}};
  return {Note::Kind::row, std::string{trim(line.substr(gap))}, std::string{line.substr(0, gap)}};
}

inline std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace detail

/// Reads notes. Lines that are not indented are paragraphs; an empty line ends one. Lines below
/// "Example:" are literal, and other lines with an indent of two are rows of a list; a larger
/// indent continues a row.
inline std::vector<Note> read_notes(std::string_view text) {
  std::vector<Note> notes;
  bool in_example = false;
  while (!text.empty()) {
    const auto line = detail::take_line(text);
    auto* const last = notes.empty() ? nullptr : &notes.back();
    const bool after_row = last != nullptr && last->kind == Note::Kind::row;
    if (trim(line).empty()) {
      if (last != nullptr && last->kind != Note::Kind::space) notes.push_back({Note::Kind::space});
      in_example = false;
    } else if (!line.starts_with(' ')) {
      in_example = line == "Example:" || line == "Examples:";
      if (last != nullptr && last->kind == Note::Kind::paragraph && !in_example) {
        last->text.append(" ").append(line);
      } else {
        notes.push_back({Note::Kind::paragraph, std::string{line}, {}});
      }
    } else if (in_example) {
      notes.push_back({Note::Kind::literal, std::string{line}, {}});
    } else if (line.starts_with("   ") && after_row) {
      last->text.append(" ").append(trim(line));
    } else {
      notes.push_back(detail::list_row(line));
    }
  }
  if (!notes.empty() && notes.back().kind == Note::Kind::space) notes.pop_back();
  return notes;
}

/// The column of the meanings in the list that begins at a note; terms are indented by two.
inline std::size_t meanings_column(const std::vector<Note>& notes, std::size_t first) {
  std::size_t longest = 0;
  for (auto i = first; i < notes.size() && notes[i].kind == Note::Kind::row; ++i) {
    longest = std::max(longest, notes[i].term.size());
  }
  return longest + 4;
}

/// The notes as text of `width` columns.
inline std::string notes_text(const std::vector<Note>& notes, std::size_t width) {
  std::string out;
  std::size_t column = 0;  // of the meanings in the current list; 0 outside
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto& [kind, text, term] = notes[i];
    if (kind != Note::Kind::row) column = 0;
    switch (kind) {
      case Note::Kind::paragraph: out += wrapped(text, width); break;
      case Note::Kind::literal: out.append(text).append("\n"); break;
      case Note::Kind::space: out += "\n"; break;
      case Note::Kind::row:
        if (column == 0) column = meanings_column(notes, i);
        out +=
            term.empty() ? wrapped(text, width, 4, "  ") : wrapped_row(term, text, column, width);
        break;
    }
  }
  return out;
}

}  // namespace tools
