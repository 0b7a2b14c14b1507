// `cdi validate`: prints every error of spec files, or the rules.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/text_file.hpp>
#include <cdi/scan.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/validate.hpp>

#include "../../kit/cdi_specs/ignored_specs.hpp"
#include "../../kit/host/standard_streams.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/sarif.hpp"
#include "../base/spec_input.hpp"
#include "../results/files.hpp"
#include "commands.hpp"

namespace {

/// The options of `validate`.
struct ValidateOptions {
  std::vector<std::string> files{};
  bool strict = false;
  bool quiet = false;
  bool rules = false;
};

std::string_view severity_name(cdi::Severity severity) {
  if (severity == cdi::Severity::error) return "error";
  return severity == cdi::Severity::warning ? "warning" : "write-error";
}

/// Prints the table of rules.
ExitCode list_rules(const Output& output) {
  std::string text;
  std::vector<ListedRule> list;
  for (const auto& row : cdi::rules) {
    const auto severity = severity_name(row.severity);
    text += fmt::format("{:22} {:11} {} ({})\n", row.code, severity, row.demand, row.source);
    list.push_back({row.code, severity, row.demand, row.source});
  }
  return output.result(text, list) ? exit_done : exit_failed;
}

/// Warnings about the mounts of some edits whose source is a device node of this host. Only /dev is
/// examined, because other file systems may hang.
void find_mounted_nodes(const cdi::LoadedSpec& spec, const cdi::ContainerEdits& edits,
                        const std::string& place, std::vector<cdi::Error>& out) {
  for (std::size_t i = 0; i < edits.mounts.size(); ++i) {
    const auto& path = edits.mounts[i].host_path;
    struct stat there = {};
    if (!path.starts_with("/dev/") || ::stat(path.c_str(), &there) != 0) continue;
    if (!S_ISCHR(there.st_mode) && !S_ISBLK(there.st_mode)) continue;
    const auto where = fmt::format("{}containerEdits.mounts[{}]", place, i);
    out.push_back(
        {.code = cdi::Errc::host,
         .message = fmt::format("{} is a device node: for a mount, runtimes add no device "
                                "rule, and the container may be unable to open it",
                                cdi::quoted(path)),
         .advice = "list it in deviceNodes",
         .where = where,
         .position = spec.locate(where)});
  }
}

/// Warnings about mounts whose source is a device node of this host.
std::vector<cdi::Error> mounted_nodes(const cdi::LoadedSpec& spec) {
  std::vector<cdi::Error> out;
  find_mounted_nodes(spec, spec.spec.container_edits, "", out);
  for (std::size_t i = 0; i < spec.spec.devices.size(); ++i) {
    find_mounted_nodes(spec, spec.spec.devices[i].container_edits, fmt::format("devices[{}].", i),
                       out);
  }
  return out;
}

/// Validates files, directories and standard input: collects the valid files, and prints every
/// error of the others.
class Validation {
 public:
  Validation(const CommonOptions& common, const ValidateOptions& options, const Output& output)
      : common_{common}, options_{options}, output_{output} {}

  void check_dirs(const CommonOptions& dirs) {
    const auto registry = cdi::scan_spec_dirs(dirs.spec_dirs(), common_.reading);
    for (const auto& file : registry->rejected()) {
      if (!is_dir(*registry, file->why.position.file)) files_.insert(file->why.position.file);
    }
    for (const auto& spec : registry->specs()) accept(*spec);
    for (const auto& error : errors_of(dirs, *registry)) report_every(error);
    const auto ignored = tools::ignored_specs(dirs.spec_dirs());
    for (const auto& one : ignored) report_warning(tools::error_of(one));
    if (registry->specs().empty() && registry->errors().empty() && ignored.empty()) {
      report_warning(no_spec_files(dirs));
    }
  }

  void check(const std::string& path) {
    if (path == "-") return check_standard_input();
    if (std::error_code none; std::filesystem::is_directory(path, none)) {
      return check_dirs({.named_dirs = {path}});
    }
    files_.insert(path);
    struct stat there = {};
    if (!cdi::format_of(path) && ::stat(path.c_str(), &there) != 0) {
      return report(cdi::file_error(path, "cannot open the file"));
    }
    accept_or_report(cdi::read_spec_file(path, common_.reading));
  }

  /// Prints the list of valid files, unless there was an error, and the summary.
  ExitCode finish() const {
    if (common_.format == "sarif") {
      const bool printed = output_.print(sarif_of(findings_));
      return printed && bad_.empty() ? exit_done : exit_failed;
    }
    if (!options_.quiet && files_.size() > 1 && output_.format() == OutputFormat::text) {
      print_error(summary());
    }
    if (!bad_.empty()) return exit_failed;
    if (options_.quiet) return exit_done;
    std::string text;
    for (const auto& path : valid_) text.append(printable(path)).append(": valid\n");
    return output_.result(text, ValidFiles{.valid = valid_}) ? exit_done : exit_failed;
  }

 private:
  static bool is_dir(const cdi::Registry& registry, const std::string& path) {
    const auto& dirs = registry.dirs();
    return std::any_of(dirs.begin(), dirs.end(), [&](const auto& dir) { return dir.path == path; });
  }

  void check_standard_input() {
    files_.insert(standard_input);
    const auto text = tools::read_standard_input();
    if (!text) return report(text.error());
    input_ = *text;
    accept_or_report(cdi::parse_spec(input_, standard_input, cdi::Format::yaml, common_.reading));
  }

  void accept_or_report(const cdi::Result<cdi::LoadedSpec>& spec) {
    if (!spec) return report_every(spec.error());
    accept(*spec);
    for (const auto& device : spec->quarantined) report(device.why);
  }

  void accept(const cdi::LoadedSpec& spec) {
    files_.insert(spec.path);
    valid_.push_back(spec.path);
    auto warnings = spec.warnings;
    for (auto& warning : mounted_nodes(spec)) warnings.push_back(std::move(warning));
    if (auto retired = retired_member(spec.spec)) {
      retired->position = spec.locate(retired->where);
      warnings.push_back(*std::move(retired));
    }
    const bool are_lines = !options_.strict && !options_.quiet && common_.format != "sarif";
    if (!are_lines) {
      for (const auto& warning : warnings) report_warning(warning);
    } else if (!warnings.empty()) {
      doubtful_.insert(spec.path);
      output_.warnings(warnings);
    }
  }

  /// Reports every error of the file that has this one, unless the file can be read by now.
  void report_every(const cdi::Error& first) {
    using cdi::Errc;
    const bool is_in_text = first.code == Errc::schema || first.code == Errc::invalid ||
                            first.code == Errc::invalid_name;
    auto errors = is_in_text ? errors_in(first.position.file) : std::vector<cdi::Error>{};
    if (errors.empty()) errors.push_back(first);
    for (const auto& error : errors) report(error);
    if (errors.size() < cdi::max_errors) return;
    report({.message = fmt::format("more than {} errors: only the first ones are listed",
                                   cdi::max_errors - 1),
            .position = {.file = first.position.file}});
  }

  std::vector<cdi::Error> errors_in(const std::string& path) const {
    if (path == standard_input) {
      return cdi::spec_errors(input_, path, cdi::Format::yaml, common_.reading);
    }
    const auto format = cdi::format_of(path);
    const auto text = cdi::read_file(path, common_.reading.limits.bytes);
    if (!format || !text) return {};
    return cdi::spec_errors(*text, path, *format, common_.reading);
  }

  void report(const cdi::Error& error) {
    bad_.insert(error.position.file);
    print("error", error);
  }

  /// A warning. `--strict` treats it as an error unless it is about this host, because the validity
  /// of a spec must not depend on the host.
  void report_warning(const cdi::Error& warning) {
    if (options_.strict && warning.code != cdi::Errc::host) return report(warning);
    doubtful_.insert(warning.position.file);
    if (!options_.quiet) print("warning", warning);
  }

  void print(std::string_view level, const cdi::Error& error) {
    if (common_.format == "sarif") {
      findings_.push_back({level, error});
      auto& at = findings_.back().error.position;
      if (at.column > 1) at.column = character_column(text_of(at.file), at);
    } else if (level == "error") {
      output_.error(error);
    } else {
      output_.warning(error);
    }
  }

  /// The text of a file, for the columns of SARIF; the last one is kept.
  const std::string& text_of(const std::string& path) {
    if (path == standard_input) return input_;
    if (std::exchange(last_path_, path) == path) return last_text_;
    auto text = cdi::read_file(path, common_.reading.limits.bytes);
    last_text_ = text ? *std::move(text) : std::string{};
    return last_text_;
  }

  /// How many of the files have errors or warnings.
  std::string summary() const {
    const auto count = [&](const std::set<std::string>& named) {
      return std::count_if(named.begin(), named.end(),
                           [&](const auto& path) { return files_.contains(path); });
    };
    auto text = fmt::format("cdi: {} files, ", files_.size());
    text += bad_.empty() ? "all valid" : fmt::format("{} with errors", count(bad_));
    if (const auto some = count(doubtful_)) text += fmt::format(", {} with warnings", some);
    return text + "\n";
  }

  static constexpr const char* standard_input = "standard input";

  const CommonOptions& common_;
  const ValidateOptions& options_;
  const Output& output_;
  std::string input_{};
  std::vector<std::string> valid_{};
  std::set<std::string> files_{};     // all that were examined
  std::set<std::string> bad_{};       // with errors, also directories
  std::set<std::string> doubtful_{};  // with warnings
  std::vector<Finding> findings_{};   // for SARIF
  std::string last_path_{};
  std::string last_text_{};
};

ExitCode validate(const CommonOptions& common, const ValidateOptions& options,
                  const Output& output) {
  if (options.rules) return list_rules(output);
  Validation validation{common, options, output};
  if (options.files.empty()) validation.check_dirs(common);
  for (const auto& path : options.files) validation.check(path);
  return validation.finish();
}

Run set_up_validate(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<ValidateOptions>();
  app.add_option("FILE", options->files,
                 "Spec files, .json or .yaml; directories with spec files; - for standard input")
      ->check(not_empty);
  app.add_flag("--strict", options->strict, "Treat warnings as errors");
  app.add_flag("-q,--quiet", options->quiet, "Print only errors");
  app.add_option("-o,--output", common.format,
                 "Format of results, warnings and errors; sarif prints SARIF 2.1.0 on standard "
                 "output, for code review services")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "yaml", "sarif"}));
  app.add_flag("--rules", options->rules, "Print the rules instead of checking files");
  return [options](const CommonOptions& given, const Output& output) {
    return validate(given, *options, output);
  };
}

}  // namespace

constexpr Command validate_command{
    "validate", "Validate spec files and directories, or all files of the spec directories",
    set_up_validate, "cdi validate --strict my-vendor.yaml"};
