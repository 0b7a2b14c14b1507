// Output of results, errors and warnings as text, JSON or YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "../../kit/base/error_record.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/help/terminal_text.hpp"
#include "exit_codes.hpp"

enum class OutputFormat { text, json, yaml };

/// A path as text on one line, whatever bytes it contains.
std::string printable(std::string_view path);

/// Writes to standard error. A closed or full standard error is ignored; `fmt::print` would throw.
void print_error(std::string_view text);

using tools::error_record;

/// Prints results to standard output, all at once and only after success. Prints errors and
/// warnings to standard error immediately.
class Output {
 public:
  explicit Output(OutputFormat format) : format_{format} {}

  OutputFormat format() const { return format_; }

  void error(const cdi::Error& error) const { print_message("error", error); }
  void warning(const cdi::Error& warning) const { print_message("warning", warning); }
  void note(const cdi::Error& note) const { print_message("note", note); }

  /// Prints an error with a record that has more members.
  template <class Record>
  void error(const cdi::Error& error, const Record& record) const {
    format_ == OutputFormat::text ? print_text("error", error)
                                  : print_error(tools::json_line(record));
  }

  /// Prints warnings or errors. As text, messages that say the same about several places of a file
  /// share a line, with the first place and the number of places.
  void warnings(const std::vector<cdi::Error>& list) const { print_messages("warning", list); }
  void errors(const std::vector<cdi::Error>& list) const { print_messages("error", list); }

  /// Prints an error. Returns the exit code for a command that fails with this error.
  ExitCode reject(const cdi::Error& why) const;

  /// Prints a result: the text, or the value as JSON or YAML. Returns false if the output fails.
  template <class T>
  bool result(std::string_view text, const T& value) const {
    return format_ == OutputFormat::text ? print(text) : print(written(value));
  }

  /// Prints an explanation like `result`; on a terminal, its text is wrapped.
  template <class T>
  bool explanation(std::string_view text, const T& value) const {
    return format_ == OutputFormat::text ? print(tools::text_for(STDOUT_FILENO, text))
                                         : print(written(value));
  }

  /// A result as JSON or YAML.
  template <class T>
  std::string written(const T& value) const {
    return format_ == OutputFormat::json ? tools::json_text(value) : tools::yaml_text(value);
  }

  /// Prints a text. Returns false if the output fails, as on a full disk or a closed pipe.
  bool print(std::string_view text) const;

 private:
  void print_messages(std::string_view level, const std::vector<cdi::Error>& list) const;

  static void print_text(std::string_view level, const cdi::Error& error,
                         std::string_view end = {});

  void print_message(std::string_view level, const cdi::Error& error) const;

  OutputFormat format_;
};
