// Writes a log to standard output without waiting for its reader.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <mutex>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include <cdi/json.hpp>
#include <cdi/result.hpp>

#include "one_line.hpp"

namespace tools {

/// Writes a line to standard output, in pieces that fit into a pipe. Drops what the reader does not
/// take; the next line then begins on a new line. Any thread may call it.
inline void write_without_waiting(std::string text) {
  static std::mutex mutex;
  static bool is_cut = false;
  const std::lock_guard lock{mutex};
  if (is_cut) text.insert(0, 1, '\n');
  std::string_view left{text};
  while (!left.empty()) {
    pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    const bool has_room = ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0;
    const auto size = std::min(left.size(), std::size_t{PIPE_BUF});
    const auto written = has_room ? ::write(STDOUT_FILENO, left.data(), size) : -1;
    if (written <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  is_cut = left.empty() ? false : is_cut || left.size() < text.size();
}

/// A log on standard output. Its lines are described structs, written as JSON or as the text that
/// `text_of` in the namespace of `Line` returns. Each line is written at once, by
/// `write_without_waiting`. Any thread may call it.
template <class Line>
class LineLog {
 public:
  explicit LineLog(bool json) : json_{json} {}

  void write(const Line& line) const {
    const auto json = json_ ? cdi::write_json(line, -1) : cdi::Result<std::string>{std::string{}};
    const auto text = json_ && json ? *json : one_line(text_of(line));
    write_without_waiting(text + '\n');
  }

 private:
  bool json_;
};

}  // namespace tools
