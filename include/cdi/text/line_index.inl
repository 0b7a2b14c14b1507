// The bodies of <cdi/text/line_index.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_LINE_INDEX_INL
#define CDI_TEXT_LINE_INDEX_INL

#include <cdi/text/bytes.hpp>
#include <cdi/text/line_index.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE std::size_t next_line(std::string_view text, std::size_t at) {
  // Search for both in one loop: two separate searches per line would take quadratic time.
  while (at < text.size() && text[at] != '\n' && text[at] != '\r') ++at;
  if (text.substr(at, 2) == "\r\n") ++at;
  return at < text.size() ? at + 1 : at;
}

CDI_INLINE LineIndex::LineIndex(std::string_view text) : only_lf_{text.find('\r') == text.npos} {
  marks_.reserve(text.size() / bytes_per_mark + 1);
  Mark mark;
  for (std::size_t at = 0; marks_.empty() || at < text.size(); at += bytes_per_mark) {
    move(mark, text, at);
    marks_.push_back(position_of(mark));
  }
}

CDI_INLINE LineIndex::Mark LineIndex::mark_before(std::size_t at) const {
  if (marks_.empty()) return {};
  std::size_t nearest = at / bytes_per_mark;
  if (nearest >= marks_.size()) nearest = marks_.size() - 1;  // `at` is the end of the text
  const auto& [line, column] = marks_[nearest];
  const auto byte = static_cast<std::uint32_t>(nearest * bytes_per_mark);
  return {line, byte + 1 - column, byte};
}

CDI_INLINE LineColumn LineIndex::position_of(const Mark& mark) {
  return {mark.line, mark.at - mark.begin + 1};
}

CDI_INLINE void LineIndex::move(Mark& mark, std::string_view text, std::size_t at) const {
  if (only_lf_) {
    const std::size_t end = at == text.size() && at > mark.at ? at - 1 : at;
    const auto lines = detail::count_byte(text.substr(mark.at, end - mark.at), '\n');
    mark.line += static_cast<std::uint32_t>(lines);
    if (lines != 0) mark.begin = static_cast<std::uint32_t>(text.rfind('\n', end - 1) + 1);
  } else {
    const auto seen = text.substr(0, at + 1);  // the rest of a long line is not read
    for (auto next = detail::next_line(seen, mark.at); next <= at && next != text.size();
         next = detail::next_line(seen, next)) {
      mark.begin = static_cast<std::uint32_t>(next);
      ++mark.line;
    }
  }
  mark.at = static_cast<std::uint32_t>(at);
}

CDI_INLINE LineColumn LineIndex::find(std::string_view text, std::size_t at) const {
  Mark mark = mark_before(at);
  move(mark, text, at);
  return position_of(mark);
}

CDI_INLINE std::vector<LineColumn> LineIndex::find_all(
    std::string_view text, const std::vector<std::uint32_t>& bytes) const {
  std::vector<LineColumn> places;
  places.reserve(bytes.size());
  Mark mark;
  for (const std::uint32_t at : bytes) {
    if (at < mark.at || at - mark.at > bytes_per_mark) mark = mark_before(at);
    move(mark, text, at);
    places.push_back(position_of(mark));
  }
  return places;
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_LINE_INDEX_INL
