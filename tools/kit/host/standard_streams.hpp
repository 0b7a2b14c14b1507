// Standard streams: reads and prints whole texts, and keeps files off the numbers of closed
// streams. SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>
#include <cdi/text/limits.hpp>

namespace tools {

/// Takes the descriptors of standard streams that the caller closed. Otherwise, the next file or
/// socket gets the number, and output goes into it. Reading and writing them still fails, and child
/// programs get them closed. Call it before other files are opened.
inline void reserve_standard_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // Takes the lowest free number, which is this one. Needs no access, and works in any root.
    static_cast<void>(::open("/", O_PATH | O_CLOEXEC));
  }
}

/// Prints a text on standard output. Returns false if that fails, as on a full disk or closed pipe.
inline bool print_text(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0;
}

/// Reads all of standard input.
inline cdi::Result<std::string> read_standard_input() {
  return cdi::read_all(STDIN_FILENO, "standard input", cdi::Limits{}.bytes);
}

}  // namespace tools
