// Text on one line, safe for a terminal.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_BASE_ONE_LINE_HPP
#define CDI_PREPARE_BASE_ONE_LINE_HPP

#include <algorithm>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

// Other programs choose the names of files, claims and devices. Such a name must not start a new
// line, and a terminal must not interpret it.

namespace prepare {

/// `text` as UTF-8 on one line, with escapes for control characters.
inline std::string one_line(std::string_view text) {
  constexpr std::string_view shown_as_they_are = "\"\\";
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(shown_as_they_are), text.size());
    out.append(cdi::escaped(text.substr(0, end), std::string::npos));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// The same with the end of a line.
inline std::string as_line(std::string_view text) {
  return one_line(text) + "\n";
}

}  // namespace prepare

#endif  // CDI_PREPARE_BASE_ONE_LINE_HPP
