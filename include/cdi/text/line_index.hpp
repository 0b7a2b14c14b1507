// `LineIndex`: finds the line and column of any byte of a text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_LINE_INDEX_HPP
#define CDI_TEXT_LINE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The begin of the line after that of `at`, or the size of the text. LF, CR LF, and a CR alone end
/// a line.
std::size_t next_line(std::string_view text, std::size_t at);

/// Remembers the line of every 1024th byte of a text, so that a search reads no more than the text
/// from there on.
class LineIndex {
 public:
  /// A line and a column, both from 1; columns are bytes.
  struct Place {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
  };

  /// The index of an empty text.
  LineIndex() = default;
  /// Costs one pass.
  explicit LineIndex(std::string_view text);

  /// The place of a byte, or of the end, of the same text.
  Place find(std::string_view text, std::size_t at) const;

  /// Replaces each byte of the same text by its line. Ascending bytes cost one pass over the text
  /// between them.
  void to_lines(std::string_view text, std::vector<std::uint32_t>& places) const;

 private:
  /// The line of a byte.
  struct Mark {
    std::uint32_t line = 1;
    std::uint32_t begin = 0;  // of that line
    std::uint32_t at = 0;     // the byte
  };

  /// The nearest mark at or before a byte.
  Mark mark_before(std::size_t at) const;
  /// Moves a mark forward to a byte.
  void move(Mark& mark, std::string_view text, std::size_t at) const;

  static constexpr std::size_t bytes_per_mark = 1024;

  std::vector<Mark> marks_{};  // of bytes 0, 1024, 2048, ...
  bool only_lf_ = false;       // all lines end in LF
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/line_index.inl>
#endif

#endif  // CDI_TEXT_LINE_INDEX_HPP
