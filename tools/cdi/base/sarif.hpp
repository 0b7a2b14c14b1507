// Writes errors and warnings about files as SARIF 2.1.0, for code review services and editors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>

/// An error or a warning about a file.
struct Finding {
  std::string_view level;  // "error" or "warning"
  cdi::Error error;
};

/// The column of a position in a text, counted in characters instead of bytes. The position must
/// have a column.
std::uint32_t character_column(std::string_view text, const cdi::Position& at);

/// The text of a SARIF document with findings, whose columns count characters. Its rules are the
/// rules of specs, and one for each kind of other errors.
std::string sarif_of(const std::vector<Finding>& findings);
