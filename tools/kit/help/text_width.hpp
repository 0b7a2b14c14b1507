// Chooses the width of printed text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../base/text.hpp"

namespace tools {

/// The width in columns for text on standard output, or on another stream: from COLUMNS, else from
/// the terminal, else 80. At least 40, and at most 100, because longer lines are hard to read.
inline std::size_t text_width(int stream = STDOUT_FILENO) {
  constexpr std::size_t least = 40;
  constexpr std::size_t most = 100;
  const char* const wanted = std::getenv("COLUMNS");
  auto width = parse_number<std::size_t>(wanted == nullptr ? "" : wanted).value_or(0);
  winsize window{};
  if (width == 0 && ::ioctl(stream, TIOCGWINSZ, &window) == 0) width = window.ws_col;
  return width == 0 ? 80 : std::clamp(width, least, most);
}

}  // namespace tools
