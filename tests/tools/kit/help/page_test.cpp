// What is read from a command line for its help.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/help/page.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

namespace {

using tools::PageOption;
using tools::ValueKind;

/// The option with a name, in any group of a page.
PageOption option_of(const tools::CommandPage& page, std::string_view name) {
  for (const auto& group : page.groups) {
    for (const auto& option : group.options) {
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
        return option;
      }
    }
  }
  return {};
}

}  // namespace

TEST_CASE("A value has a name, and what completes it") {
  CLI::App app{"Does it.", "tool"};
  int number = 0;
  unsigned size = 0;
  double share = 0;
  std::string text;
  app.add_option("--number", number, "Count");
  app.add_option("--size", size, "Count");
  app.add_option("--share", share, "Count");
  app.add_option("--file", text, "Read it")->check(CLI::ExistingFile);
  app.add_option("--dir", text, "Read it")->type_name("DIR");
  app.add_option("--form", text, "The form")->check(CLI::IsMember({"a", "b"}));
  app.add_option("--word", text, "")->required();
  app.add_option("--pair", text, "Both")->type_name("A:B[:C]")->default_str("[x");
  app.add_option("--list", text, "All")->default_str("[x,y]");
  app.add_option("DEVICE", text, "It");
  const auto page = tools::read_page(app);
  for (const auto* const name : {"--number", "--size", "--share"}) {
    CHECK(option_of(page, name).value == "NUMBER");
  }
  CHECK(option_of(page, "--file").kind == ValueKind::file);
  CHECK(option_of(page, "--dir").kind == ValueKind::directory);
  CHECK(option_of(page, "--form").choices == std::vector<std::string>{"a", "b"});
  CHECK(option_of(page, "--form").help == "The form (a, b)");
  CHECK(option_of(page, "--word").help == "(required)");
  CHECK(option_of(page, "--pair").value == "A:B[:C]");
  CHECK(option_of(page, "--pair").help == "Both (default: [x)");
  CHECK(option_of(page, "--list").help == "All (default: x,y)");
  REQUIRE(page.arguments.size() == 1);
  CHECK(page.arguments[0].kind == ValueKind::device);
}

TEST_CASE("What is in the group without a name is not shown") {
  CLI::App app{"Does it.", "tool"};
  std::string text;
  app.add_option("--hidden", text, "It")->group("");
  app.add_option("HIDDEN", text, "It")->group("");
  const auto page = tools::read_page(app);
  CHECK(option_of(page, "--hidden").names.empty());
  CHECK(page.arguments.empty());
  CHECK(page.usage == "tool [OPTIONS]");
}

TEST_CASE("A group says how many of its options are needed") {
  const struct {
    std::size_t least;
    std::size_t most;
    std::string_view help;
  } rows[] = {
      {0, 0, "Choose"},
      {1, 1, "Choose (exactly one is required)"},
      {1, 0, "Choose (at least one is required)"},
      {1, 2, "Choose (at least one is required)"},
      {0, 1, "Choose (at most one is allowed)"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.help);
    CLI::App app{"Does it.", "tool"};
    bool is_set = false;
    auto* const group = app.add_option_group("Which", "Choose");
    group->add_flag("--a", is_set, "A");
    group->require_option(row.least, row.most);
    const auto page = tools::read_page(app);
    REQUIRE(page.groups.size() == 2);
    CHECK(page.groups[1].title == "Which");
    CHECK(page.groups[1].help == row.help);
  }
}

TEST_CASE("The usage has what a command needs, or comes from its notes") {
  CLI::App tool{"Does it.", "tool"};
  std::string text;
  tool.add_option("--all", text, "Of all commands")->type_name("X")->required();
  auto* const command = tool.add_subcommand("go", "Goes.");
  command->add_option("--own", text, "Its own")->type_name("Y")->required();
  CHECK(tools::read_page(tool).usage == "tool --all X [OPTIONS] [COMMAND]");
  CHECK(tools::read_page(*command).usage == "tool go --own Y [OPTIONS]");
  command->footer("Usage: tool go SO\n\nMore.");
  CHECK(tools::read_page(*command).usage == "tool go SO");
  CHECK(tools::read_page(*command).notes == "More.");
}

TEST_CASE("An example follows the usage, and one that is there stays") {
  CLI::App tool{"Does it.", "tool"};
  tool.footer([] { return std::string{"More."}; });
  auto* const command = tool.add_subcommand("go", "Goes.");
  command->footer("Usage: tool go SO\n\nMore.");
  tools::add_example(*command, "tool go this");
  tools::add_example(tool, "tool go that");
  CHECK(tools::read_page(*command).usage == "tool go SO");
  CHECK(tools::read_page(*command).notes == "Example:\n  tool go this\n\nMore.");
  CHECK(tools::read_page(tool).notes == "Example:\n  tool go that\n\nMore.\n");
}
