// Output of results, errors and warnings as text, JSON or YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "output.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/cdi.hpp>

#include "../../kit/base/alike.hpp"

std::string printable(std::string_view path) {
  return cdi::escaped(path, std::string::npos);
}

void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

ExitCode Output::reject(const cdi::Error& why) const {
  error(why);
  return exit_failed;
}

bool Output::print(std::string_view text) const {
  while (!text.empty()) {
    const auto put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      error({.message = "cannot write to standard output"});
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Output::print_messages(std::string_view level, const std::vector<cdi::Error>& list) const {
  if (format_ != OutputFormat::text) {
    for (const auto& one : list) print_message(level, one);
    return;
  }
  const auto key_of = [](const cdi::Error& one) {
    return fmt::format("{}\n{}\n{}\n{}", one.position.file, one.rule,
                       tools::without_numbers(one.message), tools::without_numbers(one.advice));
  };
  for (const auto& [one, more] : tools::shown_of_alike(list, key_of)) {
    print_text(level, *one, tools::and_more_alike(more));
  }
}

void Output::print_text(std::string_view level, const cdi::Error& error, std::string_view end) {
  const auto rule = error.rule.empty() ? std::string{} : fmt::format(" [{}]", error.rule);
  print_error(tools::text_for(
      STDERR_FILENO, fmt::format("cdi: {}: {}{}{}\n", level, to_string(error), rule, end)));
}

void Output::print_message(std::string_view level, const cdi::Error& error) const {
  format_ == OutputFormat::text ? print_text(level, error)
                                : print_error(tools::json_line(error_record(level, error)));
}
