// The completion script for fish.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "../help/page.hpp"
#include "scripts.hpp"
#include "table.hpp"

namespace tools {

namespace {

constexpr std::string_view fish_functions = R"sh(
# Whether the command before the cursor is $wanted; with a comparison and a number, also whether
# the number of its arguments fits.
function __@FUNCTION@_at -a wanted comparison number
    set -l words (commandline -opc)
    set -l command ''
    set -l count 0
    set -l is_value 0
    for word in $words[2..-1]
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $word
            case '--*=*'
            case '-*'
                __@FUNCTION@_takes_value "$command" $word; and set is_value 1
            case '*'
                if test -z "$command"
                    set command $word
                else
                    set count (math $count + 1)
                end
        end
    end
    test "$command" = "$wanted"; or return 1
    test -z "$comparison"; or test $count $comparison $number
end

# The names of the devices in the spec directories of the command line.
function __@FUNCTION@_devices
    set -l words (commandline -opc)
    set -l dirs
    for i in (seq 2 (count $words))
        switch $words[$i]
            case -d --spec-dir
                set -a dirs -d $words[(math $i + 1)]
            case '--spec-dir=*'
                set -a dirs -d (string replace -- --spec-dir= '' $words[$i])
        end
    end
    @CDI@ $dirs devices 2>/dev/null
end

complete -c @TOOL@ -e
complete -c @TOOL@ -f
)sh";

std::string fish_quoted(std::string_view text) {
  return detail::in_quotes(detail::replaced(std::string{text}, "\\", "\\\\"), "\\'");
}

/// The switches of `complete` for a value.
std::string fish_value(const PageOption& option) {
  switch (option.kind) {
    case ValueKind::choice: return fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
    case ValueKind::file: return " -r -F";
    case ValueKind::directory: return " -x -a '(__fish_complete_directories (commandline -ct))'";
    case ValueKind::device: return " -x -a '(__@FUNCTION@_devices)'";
    case ValueKind::none: break;
  }
  return option.value.empty() ? "" : " -x";
}

/// The lines of a command: its options and arguments.
std::string fish_command(const CommandPage& page, std::string_view command) {
  std::string out;
  for (const auto& option : detail::options_of(page)) {
    out += fmt::format("complete -c @TOOL@ -n \"__@FUNCTION@_at '{}'\"", command);
    for (const auto& name : option.names) {
      const bool is_long = name.starts_with("--");
      out += fmt::format(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
    }
    out +=
        fmt::format("{} -d {}\n", fish_value(option), fish_quoted(detail::short_help(option.help)));
  }
  for (std::size_t i = 0; i < page.arguments.size(); ++i) {
    const auto& argument = page.arguments[i];
    if (argument.kind == ValueKind::none) continue;
    const auto* const comparison = argument.repeated ? "-ge" : "-eq";
    const auto value = argument.kind == ValueKind::file ? " -F" : fish_value(argument);
    out += fmt::format("complete -c @TOOL@ -n \"__@FUNCTION@_at '{}' {} {}\"{}\n", command,
                       comparison, i, value);
  }
  return out;
}

/// The rows of a command's options that take values.
std::string fish_value_rows(const CommandPage& page, std::string_view command) {
  return detail::value_rows(page, [&](const PageOption&, const std::string& name) {
    return fmt::format(" '{} {}'", command, name);
  });
}

}  // namespace

std::string fish_completion(const CLI::App& tool) {
  const auto own = read_page(tool);
  auto values = fish_value_rows(own, "");
  auto lines = fish_command(own, "");
  for (const auto& page : detail::command_pages(tool)) {
    values += fish_value_rows(page, page.name);
    lines += fmt::format("complete -c @TOOL@ -n \"__@FUNCTION@_at ''\" -a {} -d {}\n", page.name,
                         fish_quoted(page.help));
    lines += fish_command(page, page.name);
  }
  const auto script = fmt::format(
      "# fish completion of @TOOL@, written by `@TOOL@ completion fish`.\n"
      "# SPDX-License-Identifier: Apache-2.0 OR MIT\n\n"
      "# Whether an option of a command takes a value.\n"
      "function __@FUNCTION@_takes_value -a command option\n"
      "    contains -- \"$command $option\"{}\nend\n{}{}",
      values, fish_functions, lines);
  return detail::filled(script, tool, "$words[1]");
}

}  // namespace tools
