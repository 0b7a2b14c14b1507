// The bodies of <cdi/text/line_index.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_IMPL_LINE_INDEX_HPP
#define CDI_TEXT_IMPL_LINE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/text/line_index.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

CDI_INLINE std::size_t next_line(std::string_view text, std::size_t at) {
  // One loop for both: to search the whole text for one of them at each line would be quadratic.
  while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
  if (text.substr(at, 2) == "\r\n") ++at;
  return at < text.size() ? at + 1 : at;
}

/// The same for a text whose lines all end in LF, which is faster.
inline std::size_t next_lf_line(std::string_view text, std::size_t at) {
  const auto end = text.find('\n', at);
  return end == text.npos ? text.size() : end + 1;
}

CDI_INLINE LineIndex::LineIndex(std::string_view text) {
  const bool only_lf = text.find('\r') == text.npos;
  marks_.reserve(text.size() / bytes_per_mark + 1);
  Mark line;
  marks_.push_back(line);
  for (std::size_t at = 0; at < text.size(); ++line.line) {
    line.begin = static_cast<std::uint32_t>(at);
    at = only_lf ? next_lf_line(text, at) : detail::next_line(text, at);
    while (marks_.size() * bytes_per_mark < at) {
      line.at = static_cast<std::uint32_t>(marks_.size() * bytes_per_mark);
      marks_.push_back(line);
    }
  }
}

CDI_INLINE LineIndex::Mark LineIndex::mark_before(std::size_t at) const {
  if (marks_.empty()) return {};
  const std::size_t nearest = at / bytes_per_mark;
  return nearest < marks_.size() ? marks_[nearest] : marks_.back();
}

CDI_INLINE void LineIndex::move(Mark& mark, std::string_view text, std::size_t at) {
  const auto seen = text.substr(0, at + 1);  // the rest of a long line costs nothing
  for (auto next = detail::next_line(seen, mark.at); next <= at && next != text.size();
       next = detail::next_line(seen, next)) {
    mark.begin = static_cast<std::uint32_t>(next);
    ++mark.line;
  }
  mark.at = static_cast<std::uint32_t>(at);
}

CDI_INLINE LineIndex::Place LineIndex::find(std::string_view text, std::size_t at) const {
  Mark mark = mark_before(at);
  move(mark, text, at);
  return {mark.line, mark.at - mark.begin + 1};
}

CDI_INLINE void LineIndex::to_lines(std::string_view text,
                                    std::vector<std::uint32_t>& places) const {
  Mark mark;
  for (std::uint32_t& place : places) {
    if (place < mark.at || place - mark.at > bytes_per_mark) mark = mark_before(place);
    move(mark, text, place);
    place = mark.line;
  }
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_IMPL_LINE_INDEX_HPP
