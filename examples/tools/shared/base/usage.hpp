// Error messages for the command line of a tool.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_SHARED_BASE_USAGE_HPP
#define CDI_TOOLS_SHARED_BASE_USAGE_HPP

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "one_line.hpp"
#include <CLI/CLI.hpp>

namespace tools {

/// Whether the command line requests help or the version, which CLI11 also throws.
inline bool is_answer(const CLI::ParseError& thrown) {
  return thrown.get_exit_code() == 0;
}

/// The requested help or version text.
inline std::string usage_answer(const CLI::App& app, const CLI::ParseError& thrown) {
  std::ostringstream text;
  app.exit(thrown, text, text);
  return text.str();
}

/// The fault in a command line, and the remedy, on one line.
inline std::string usage_fault(const CLI::App& app, const CLI::ParseError& thrown) {
  const auto chosen = app.get_subcommands();
  const auto extra = app.remaining();
  if (!chosen.empty() || extra.empty()) {
    const auto command = chosen.empty() ? std::string{} : " " + chosen.front()->get_name();
    return fmt::format("{}; `{}{} --help` lists the options", one_line(thrown.what()),
                       app.get_name(), command);
  }
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  const auto commands = fmt::format("{}", fmt::join(names, ", "));
  if (!extra.front().starts_with('-')) {
    return fmt::format("{} is not a command: use one of {}", cdi::quoted(extra.front()), commands);
  }
  return fmt::format(
      "{0} is not an option of {1} itself: `{1} --help` lists them; the commands {2} "
      "have their own options",
      cdi::quoted(extra.front()), app.get_name(), commands);
}

}  // namespace tools

#endif  // CDI_TOOLS_SHARED_BASE_USAGE_HPP
