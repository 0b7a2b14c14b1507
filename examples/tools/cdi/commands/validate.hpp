// `cdi validate`: validates spec files, or prints the rules.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_VALIDATE_HPP
#define CDI_TOOLS_CDI_COMMANDS_VALIDATE_HPP

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"

/// The options of `validate`.
struct ValidateOptions {
  std::vector<std::string> files{};
  bool strict = false;
  bool rules = false;
};

inline std::string_view severity_name(cdi::Severity severity) {
  if (severity == cdi::Severity::error) return "error";
  return severity == cdi::Severity::warning ? "warning" : "write-error";
}

/// Prints the table of rules.
inline ExitCode list_rules(const Output& output) {
  std::string text;
  Json list = Json::array();
  for (const auto& row : cdi::rules) {
    const auto severity = severity_name(row.severity);
    text += fmt::format("{:22} {:11} {} ({})\n", row.code, severity, row.demand, row.source);
    list.push_back({{"rule", row.code},
                    {"severity", severity},
                    {"demand", row.demand},
                    {"source", row.source}});
  }
  return output.result(text, list) ? exit_done : exit_failed;
}

/// Validates files or spec directories: collects the valid files, and prints the errors in the
/// others.
class Validation {
 public:
  Validation(const CommonOptions& common, bool strict, const Output& output)
      : common_{common}, strict_{strict}, output_{output} {}

  void check_dirs() {
    const auto registry = cdi::scan_spec_dirs(common_.spec_dirs(), common_.reading);
    for (const auto& error : errors_of(common_, *registry)) report(error);
    for (const auto& spec : registry->specs()) accept(*spec);
    for (const auto& one : cdi::ignored_specs(common_.spec_dirs())) {
      report_warning(cdi::error_of(one));
    }
    if (!failed_ && valid_.empty()) report_warning(no_files());
  }

  void check_file(const std::string& path) {
    auto spec = cdi::read_spec_file(path, common_.reading);
    if (spec) return accept(*spec);
    if (std::error_code none; std::filesystem::is_directory(path, none)) {
      spec.error().message = "is a directory";
      spec.error().advice = "give a file in it, or use --spec-dir";
    }
    report(spec.error());
  }

  /// Prints the list of valid files, unless there was an error.
  ExitCode finish() const {
    if (failed_) return exit_failed;
    std::string text;
    for (const auto& path : valid_) text.append(printable(path)).append(": valid\n");
    return output_.result(text, Json{{"valid", valid_}}) ? exit_done : exit_failed;
  }

 private:
  void accept(const cdi::LoadedSpec& spec) {
    valid_.push_back(spec.path);
    for (const auto& warning : spec.warnings) report_warning(warning);
  }

  void report(const cdi::Error& error) {
    output_.error(error);
    failed_ = true;
  }

  /// A warning, which `--strict` treats as an error.
  void report_warning(const cdi::Error& warning) {
    if (strict_) return report(warning);
    output_.warning(warning);
  }

  cdi::Error no_files() const {
    cdi::Error nothing{.message = "no spec files in"};
    for (const auto& dir : common_.spec_dirs()) nothing.message.append(" ").append(printable(dir));
    return nothing;
  }

  const CommonOptions& common_;
  bool strict_;
  const Output& output_;
  std::vector<std::string> valid_{};
  bool failed_ = false;
};

inline ExitCode validate(const CommonOptions& common, const ValidateOptions& options,
                         const Output& output) {
  if (options.rules) return list_rules(output);
  Validation validation{common, options.strict, output};
  if (options.files.empty()) validation.check_dirs();
  for (const auto& path : options.files) validation.check_file(path);
  return validation.finish();
}

inline Run set_up_validate(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option("FILE", options->files, "Spec files, .json or .yaml")->check(not_empty);
  app.add_flag("--strict", options->strict, "Treat warnings as errors");
  app.add_flag("--rules", options->rules, "Print the rules instead of checking files");
  return [options](const CommonOptions& given, const Output& output) {
    return validate(given, *options, output);
  };
}

inline constexpr Command validate_command{
    "validate", "Validate spec files, or all files of the spec directories", set_up_validate};

#endif  // CDI_TOOLS_CDI_COMMANDS_VALIDATE_HPP
