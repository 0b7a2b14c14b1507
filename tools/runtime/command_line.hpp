// Reads the parts of an OCI runtime's command line that cdi-runtime needs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace runtime {

/// The command, and the relevant options. The real runtime checks the command line.
struct CommandLine {
  std::string_view command{};
  std::string bundle{"."};
  std::string config{"config.json"};  // this one in the bundle; only crun has an option for it
  std::string log{};
  bool json_log = false;

  /// Stores the value of an option. Kata's `--config`, before the command, is another file.
  void set(std::string_view name, std::string_view value) {
    if (name == "log") log = value;
    if (name == "log-format") json_log = value == "json";
    if (command.empty()) return;
    if (name == "b" || name == "bundle") bundle = value.empty() ? "." : value;
    if (name == "f" || name == "config") config = value;
  }
};

/// The commands of runc, crun and runsc. Another word is the value of an option not listed here.
constexpr std::string_view commands[] = {
    "checkpoint", "create", "delete", "do",    "events", "exec",   "features", "help",
    "info",       "init",   "kill",   "list",  "mounts", "pause",  "ps",       "restore",
    "resume",     "run",    "spec",   "start", "state",  "update", "wait"};

/// The options whose next argument is a value, even if it looks like a command or an option. Not
/// `rootless`: it has no value in runsc, and its values elsewhere are not commands.
constexpr std::string_view with_value[] = {
    "b",    "bundle",          "cgroup-manager", "config",   "console-socket",
    "criu", "debug-command",   "debug-log",      "f",        "host-uds",
    "log",  "log-format",      "log-level",      "pid-file", "preserve-fds",
    "root", "strace-syscalls", "user-log"};

inline bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Reads the arguments after the program. Options may be written `--name value`, `--name=value`,
/// with one dash, as Go's programs accept, and, as crun accepts, `-bvalue`, `-db value` and
/// `--bun`. A `--` before the command is skipped, as runc does; one after it ends the options.
inline CommandLine read_command_line(std::span<char* const> arguments) {
  CommandLine line;
  for (auto at = arguments.begin(); at != arguments.end(); ++at) {
    const std::string_view word{*at};
    if (word == "--" && !line.command.empty()) break;
    if (!word.starts_with('-')) {
      if (line.command.empty() && is_one_of(commands, word)) line.command = word;
      continue;
    }
    const bool is_long = word.starts_with("--");
    const auto equals = std::min(word.find('='), word.size());
    auto name = word.substr(0, equals).substr(is_long ? 2 : 1);
    for (const std::string_view full : {"bundle", "config"}) {
      if (is_long && name.size() > 1 && full.starts_with(name)) name = full;
    }
    bool has_value = equals < word.size();
    auto value = word.substr(has_value ? equals + 1 : equals);
    if (!is_one_of(with_value, name)) {
      const auto letter = std::min(word.find_first_not_of('d', 1), word.size());
      name = word.substr(letter, 1);
      if (name != "b" && name != "f") continue;
      value = word.substr(letter + 1);
      has_value = !value.empty();
    }
    if (!has_value && ++at == arguments.end()) break;
    line.set(name, has_value ? value : *at);
  }
  return line;
}

}  // namespace runtime
