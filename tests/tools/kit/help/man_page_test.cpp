// The man page of a tool that is made up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/help/man_page.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

namespace {

constexpr std::string_view codes = "Exit codes:\n  0  done\n";

/// The man page of a tool with a command that has these notes.
std::string page_with(std::string_view notes, std::string_view date = "2026-11-25",
                      const std::vector<tools::ManualRow>& files = {}) {
  CLI::App tool{"Does it.", "tool-2"};
  tool.add_subcommand("go", "Go.")->footer(std::string{notes});
  tools::Manual manual{};
  manual.section = "1";
  manual.exit_codes = codes;
  manual.files = files;
  return tools::man_page(tool, manual, date);
}

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != page.npos;
}

}  // namespace

TEST_CASE("The title has the name in capitals, and the date if there is one") {
  CHECK(has(page_with(""), "\n.TH TOOL\\-2 1 2026-11-25 \"tool-2 "));
  CHECK(has(page_with("", ""), "\n.TH TOOL\\-2 1 \"\" \"tool-2 "));
}

TEST_CASE("The exit codes are in one section, not in the notes of each command") {
  for (const std::string notes : {"", "Text.\n\n"}) {
    const auto page = page_with(notes + std::string{codes});
    CHECK_FALSE(has(page, "Exit codes:"));
    CHECK(has(page, ".SH EXIT STATUS\n.TP\n0\ndone\n"));
  }
}

TEST_CASE("A command whose exit codes are its own keeps its other notes") {
  const auto page = page_with("Text.\n\nExit codes:\n  0  done\n  7  odd\nMore.\n  a  one\n");
  CHECK_FALSE(has(page, "odd"));
  CHECK(has(page, "\nText.\n.PP\nMore.\n.TP\na\none\n"));
}

TEST_CASE("Notes begin with a paragraph or a list, and may be missing") {
  CHECK(has(page_with(""), "Usage: \\fBtool\\-2 go [OPTIONS]\\fR\n.SH EXIT STATUS"));
  CHECK(has(page_with("Text."), "\\fR\n.PP\nText.\n"));
  CHECK(has(page_with("  a  one\n"), "\\fR\n.TP\na\none\n"));
}

TEST_CASE("Signs with a meaning in roff are shown as they are") {
  CHECK(has(page_with("Example:\n  a `b` ^c ~d \\e 'f' \"g\" -h\n"),
            "  a \\(gab\\(ga \\(hac \\(tid \\ee \\(aqf\\(aq \\(dqg\\(dq \\-h\n"));
}

TEST_CASE("Files are a section of their own, if there are any") {
  CHECK_FALSE(has(page_with(""), ".SH FILES"));
  CHECK(has(page_with("", "", {{"/etc/x", "X"}}), ".SH FILES\n.TP\n\\fB/etc/x\\fR\nX\n"));
}
