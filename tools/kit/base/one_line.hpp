// Text on one line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

namespace tools {

/// `text` as UTF-8 on one line, with escapes for control characters. Longer text than about
/// `max_size` bytes is cut and ends with "...".
inline std::string one_line(std::string_view text, std::size_t max_size = std::string::npos) {
  constexpr std::string_view shown_as_they_are = "\"\\";
  std::string out;
  while (!text.empty() && out.size() < max_size) {
    const auto end = std::min(text.find_first_of(shown_as_they_are), text.size());
    out.append(cdi::escaped(text.substr(0, end), max_size - out.size()));
    if (end < text.size() && out.size() < max_size) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!text.empty() && !out.ends_with("...")) out.append("...");
  return out;
}

}  // namespace tools
