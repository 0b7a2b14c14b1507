// Text on one line, safe for a terminal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "../../kit/base/one_line.hpp"

// File, claim and device names come from other programs. A name must not start a new line, or
// control a terminal.

namespace prepare {

using tools::one_line;

/// `one_line`, followed by a newline.
inline std::string as_line(std::string_view text) {
  return one_line(text) + "\n";
}

}  // namespace prepare
