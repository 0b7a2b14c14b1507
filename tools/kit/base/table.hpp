// Text in columns under a header.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tools {

/// Rows of cells, printed in columns under a header. Without rows, nothing is printed.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { lines_.push_back({std::move(header), {}}); }

  /// Adds a row; it has as many cells as the header.
  void add(std::vector<std::string> row) { lines_.push_back({std::move(row), {}}); }
  /// Adds whole lines below the last row.
  void add_below(std::string_view lines) { lines_.back().below.append(lines); }

  /// The lines. The last column is not padded.
  std::string text() const {
    std::string out;
    if (lines_.size() == 1) return out;
    const auto widths = column_widths();
    for (const auto& [cells, below] : lines_) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        out.append(cells[i]);
        if (i + 1 < cells.size()) out.append(widths[i] - width(cells[i]) + 2, ' ');
      }
      out.append("\n").append(below);
    }
    return out;
  }

 private:
  struct Line {
    std::vector<std::string> cells;
    std::string below;
  };

  /// The number of characters of UTF-8 text.
  static std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
  }

  std::vector<std::size_t> column_widths() const {
    std::vector<std::size_t> widths(lines_.front().cells.size());
    for (const auto& line : lines_) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        widths[i] = std::max(widths[i], width(line.cells[i]));
      }
    }
    return widths;
  }

  std::vector<Line> lines_{};
};

}  // namespace tools
