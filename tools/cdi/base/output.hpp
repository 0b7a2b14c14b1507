// Output of results, errors and warnings as text, JSON or YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_OUTPUT_HPP
#define CDI_TOOLS_CDI_BASE_OUTPUT_HPP

#include <string>
#include <string_view>
#include <vector>

#include "../../kit/base/error_record.hpp"
#include "../../kit/help/terminal_text.hpp"
#include "exit_codes.hpp"

using Json = nlohmann::ordered_json;

enum class OutputFormat { text, json, yaml };

/// JSON text in ASCII, so that no character controls a terminal. Bytes that are not UTF-8, as in
/// some file names, become U+FFFD.
std::string to_json(const Json& value, int indent = 2, char fill = ' ');

/// YAML text, with the same precautions.
std::string to_yaml(const Json& value);

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

  /// Prints an error; `more` is added only to its record.
  void error(const cdi::Error& error, const Json& more = Json::object()) const;
  void warning(const cdi::Error& warning) const;
  void note(const cdi::Error& note) const { print_message("note", note, Json::object()); }

  /// Prints warnings or errors. As text, messages that say the same about several places of a file
  /// share a line, with the first place and the number of places.
  void warnings(const std::vector<cdi::Error>& list) const { print_messages("warning", list); }
  void errors(const std::vector<cdi::Error>& list) const { print_messages("error", list); }

  /// Prints an error. Returns the exit code for a command that fails with this error.
  ExitCode reject(const cdi::Error& why) const;

  /// Prints a result: the text, or the value as JSON or YAML. Returns false if the output fails.
  bool result(std::string_view text, const Json& value) const;

  /// Prints an explanation like `result`; on a terminal, its text is wrapped.
  bool explanation(std::string_view text, const Json& value) const;

  /// Prints a text. Returns false if the output fails, as on a full disk or a closed pipe.
  bool print(std::string_view text) const;

 private:
  void print_messages(std::string_view level, const std::vector<cdi::Error>& list) const;

  static void print_text(std::string_view level, const cdi::Error& error,
                         std::string_view end = {});

  void print_message(std::string_view level, const cdi::Error& error, const Json& more) const;

  OutputFormat format_;
};

#endif  // CDI_TOOLS_CDI_BASE_OUTPUT_HPP
