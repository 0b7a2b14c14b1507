// Errors and warnings as records, in the form of all tools.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/result.hpp>

namespace tools {

/// The levels of records.
inline constexpr std::array<std::string_view, 3> record_levels{"error", "warning", "note"};

/// An error, a warning or a note; members that are unknown are left out.
struct ErrorRecord {
  std::string_view level{};  // of `record_levels`
  std::string message{};
  std::string advice{};
  std::string where{};  // the member, or the option
  std::string file{};
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string rule{};  // the broken rule of specs

  static constexpr void fields(auto& list) {
    using Self = ErrorRecord;
    list("level", &Self::level, cdi::required);
    list("message", &Self::message, cdi::required);
    list("advice", &Self::advice);
    list("where", &Self::where);
    list("file", &Self::file);
    list("line", &Self::line);
    list("column", &Self::column);
    list("rule", &Self::rule);
  }
};

/// The record of an error.
inline ErrorRecord error_record(std::string_view level, const cdi::Error& error) {
  const auto& [file, line, column] = error.position;
  return {level, error.message, error.advice, error.where,
          file,  line,          column,       std::string{error.rule}};
}

}  // namespace tools
