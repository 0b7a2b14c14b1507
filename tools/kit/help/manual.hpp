// Parts of a tool's man page that its command line lacks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tools {

/// A term and its meaning, such as a file and what it is for.
struct ManualRow {
  std::string_view term;
  std::string_view meaning;
};

/// A tool's man page, apart from its commands.
struct Manual {
  std::string_view section;              // 1, or 8 for administration
  std::string_view summary;              // for the list of man pages: no full stop
  std::string_view description;          // paragraphs, with an empty line between them
  std::string exit_codes;                // of all commands, as a table with a title
  std::string common_exit_codes{};       // what each command returns; empty: `exit_codes`
  std::string more_exit_codes{};         // paragraphs and rows: the codes of some commands
  std::vector<ManualRow> environment{};  // what all tools read is not in it
  std::vector<ManualRow> files{};
  std::string_view see_also{};
};

}  // namespace tools
