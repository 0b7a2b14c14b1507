// Colours for terminals.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

namespace tools {

/// Colours that are readable on light and dark terminals; the numbers are from ECMA-48.
enum class Colour { red = 31, green = 32, yellow = 33, cyan = 36 };

/// Whether a variable of the environment is set to a text other than `not_this`.
inline bool is_set_but_not(const char* name, std::string_view not_this) {
  const char* const value = std::getenv(name);
  return value != nullptr && value != not_this && *value != '\0';
}

/// Whether standard output is a terminal with colours, and the user has not forbidden them by
/// NO_COLOR (https://no-color.org).
inline bool output_has_colours() {
  return ::isatty(STDOUT_FILENO) == 1 && is_set_but_not("TERM", "dumb") &&
         !is_set_but_not("NO_COLOR", "");
}

/// A text in a colour.
inline std::string coloured(std::string_view text, Colour colour) {
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text);
}

}  // namespace tools
