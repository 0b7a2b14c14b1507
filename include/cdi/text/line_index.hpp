// `LineIndex`: finds the line and column of any byte in a text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_LINE_INDEX_HPP
#define CDI_TEXT_LINE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The start of the line after `at`, or the text's size. LF, CR LF or a single CR ends a line.
std::size_t next_line(std::string_view text, std::size_t at);

/// An index with the line number of every 1024th byte of a text, so that each search reads at most
/// 1024 bytes.
class LineIndex {
 public:
  /// Creates the index of an empty text.
  LineIndex() = default;
  /// Indexes a text in one pass.
  explicit LineIndex(std::string_view text);

  /// Returns the place of a byte in the same text, or of the text's end.
  LineColumn find(std::string_view text, std::size_t at) const;

  /// Returns the places of several bytes of the same text. Ascending offsets cost one pass over the
  /// text between them.
  std::vector<LineColumn> find_all(std::string_view text,
                                   const std::vector<std::uint32_t>& bytes) const;

 private:
  /// A byte and its line.
  struct Mark {
    std::uint32_t line = 1;
    std::uint32_t begin = 0;  // start of the line
    std::uint32_t at = 0;     // offset of the byte
  };

  static LineColumn position_of(const Mark& mark);
  /// The nearest mark at or before a byte.
  Mark mark_before(std::size_t at) const;
  /// Moves a mark forward to a byte.
  void move(Mark& mark, std::string_view text, std::size_t at) const;

  static constexpr std::size_t bytes_per_mark = 1024;

  std::vector<LineColumn> marks_{};  // of bytes 0, 1024, 2048, ...
  bool only_lf_ = false;             // whether every line ends in LF
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/text/line_index.inl>
#endif

#endif  // CDI_TEXT_LINE_INDEX_HPP
