// Adds the commands that describe a tool: `completion`, and `man-page`, which the help does not
// list.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../help/man_page.hpp"
#include "../help/manual.hpp"
#include "scripts.hpp"
#include <CLI/CLI.hpp>

namespace tools {

/// Whether a tool sets up what only help, errors and describing commands need. It does so if the
/// command line cannot be parsed otherwise.
enum class Describe { no, yes };

/// A script that completes the command line of a tool in a shell: bash, zsh or fish.
inline std::string completion_script(const CLI::App& tool, std::string_view shell) {
  if (shell == "zsh") return zsh_completion(tool);
  return shell == "fish" ? fish_completion(tool) : bash_completion(tool);
}

/// Adds the commands. The parser calls `print` with what they print; the commands that it
/// describes may be added later.
inline void add_describing_commands(CLI::App& tool, const Manual& manual,
                                    const std::function<void(std::string)>& print) {
  auto& completion =
      *tool.add_subcommand("completion", "Print a script that completes command lines in a shell");
  const auto word = std::make_shared<std::string>();
  completion.add_option("SHELL", *word, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.footer(
      fmt::format("Example:\n  source <({0} completion bash)\n\n"
                  "Packages install these scripts. Otherwise, put that line into ~/.bashrc, or "
                  "write the zsh script to a file _{0} in a directory of fpath, or the fish script "
                  "to ~/.config/fish/completions/{0}.fish.\n\n",
                  tool.get_name()) +
      (manual.common_exit_codes.empty() ? manual.exit_codes : manual.common_exit_codes));
  completion.callback([&tool, word, print] { print(completion_script(tool, *word)); });
  auto& page = *tool.add_subcommand("man-page", "Print the man page in roff");
  page.group("");
  page.add_option("DATE", *word, "The date of the page");
  page.callback([&tool, word, print, manual] { print(man_page(tool, manual, *word)); });
}

}  // namespace tools
