// `cdi convert`: prints or rewrites a spec file in another CDI version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/text_file.hpp>
#include <cdi/validate.hpp>

#include "../../kit/engines/engine_of_host.hpp"
#include "../../kit/versions/conversion.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/exit_codes.hpp"
#include "../base/in_place.hpp"
#include "../base/option_checks.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/spec_input.hpp"
#include "../results/files.hpp"
#include "commands.hpp"

namespace {

/// The options of `convert`.
struct ConvertOptions {
  std::string file{};
  std::string version{};  // of --to
  std::string engine{};   // of --for; exactly one is set
  bool lossy = false;
  bool in_place = false;
  bool backup = false;
};

/// The engine table of `cdi convert --help`.
std::string engine_table() {
  std::string text =
      "The newest CDI version that each engine reads, the engine version since which it does, and\n"
      "the newest known engine version:\n";
  std::string line;
  for (std::size_t i = 0; i < tools::engine_versions.size(); ++i) {
    const auto& row = tools::engine_versions[i];
    const bool is_first = i == 0 || row.engine != tools::engine_versions[i - 1].engine;
    const bool is_last = i + 1 == tools::engine_versions.size() ||
                         row.engine != tools::engine_versions[i + 1].engine;
    if (is_first) line = fmt::format("  {}:", row.engine);
    if (is_first || row.newest != tools::engine_versions[i - 1].newest) {
      const auto part = fmt::format(" {} since {},", to_string(row.newest), to_string(row.since));
      if (line.size() + part.size() > 100) {
        text += line + "\n";
        line = "   ";
      }
      line += part;
    }
    if (is_last) text += fmt::format("{} known to {}\n", line, to_string(row.last));
  }
  return text;
}

/// Converts the spec to the version of `--to`, or for the engine of `--for`. The command line has
/// already been checked.
cdi::Result<tools::Conversion> convert_file(const ConvertOptions& options,
                                            const cdi::LoadedSpec& loaded) {
  if (options.engine.empty())
    return tools::convert_spec(loaded, *cdi::parse_spec_version(options.version));
  return tools::convert_for(*tools::parse_engine(options.engine), loaded);
}

/// Whether the engine of `--for` reads the file unchanged, and no program reads it differently.
bool is_read_already(const ConvertOptions& options, const cdi::LoadedSpec& loaded) {
  return !options.engine.empty() &&
         !tools::rejection_by(*tools::parse_engine(options.engine), loaded) &&
         tools::text_warnings(loaded).empty();
}

/// Prints warnings about a file, except for parts that the conversion reports as lost.
void print_warnings(const cdi::LoadedSpec& loaded, const Output& output) {
  auto warnings = loaded.warnings;
  std::erase_if(warnings, [](const auto& warning) {
    return warning.rule == cdi::row_of(cdi::Rule::annotation_key).code ||
           warning.rule == cdi::row_of(cdi::Rule::single_document).code;
  });
  output.warnings(warnings);
}

/// A spec file, and with `--in-place` the file to replace.
struct ConvertedFile {
  cdi::LoadedSpec spec{};
  std::string input{};  // the text of standard input
  std::optional<FileInPlace> in_place{};
};

cdi::Result<ConvertedFile> read_file_to_convert(const CommonOptions& common,
                                                const ConvertOptions& options) {
  if (options.file == "-") {
    auto text = tools::read_standard_input();
    if (!text) return std::move(text).error();
    auto loaded = parse_spec_input(*text, common.reading);
    if (!loaded) return std::move(loaded).error();
    return ConvertedFile{.spec = *std::move(loaded), .input = *std::move(text)};
  }
  const auto format = cdi::format_of(options.file);
  if (!options.in_place || !format) {
    auto loaded = cdi::read_spec_file(options.file, common.reading);
    if (!loaded) return std::move(loaded).error();
    return ConvertedFile{.spec = *std::move(loaded)};
  }
  auto file = read_in_place(options.file, common.reading.reject_writable);
  if (!file) return std::move(file).error();
  if (auto good = check_link(*file); !good) return std::move(good).error();
  auto loaded = cdi::parse_spec(file->text, options.file, *format, common.reading);
  if (!loaded) return std::move(loaded).error();
  return ConvertedFile{.spec = *std::move(loaded), .in_place = *std::move(file)};
}

/// Prints a file unchanged.
ExitCode print_file(const CommonOptions& common, const ConvertOptions& options,
                    const std::string& input, const Output& output) {
  const auto text = options.file == "-" ? cdi::Result<std::string>{input}
                                        : cdi::read_file(options.file, common.reading.limits.bytes);
  if (!text) return output.reject(text.error());
  return output.print(*text) ? exit_done : exit_failed;
}

/// Whether the conversion would change only the layout and comments.
bool is_same(const cdi::LoadedSpec& loaded, const cdi::Spec& converted) {
  return loaded.spec == converted && !loaded.newer_member && tools::text_warnings(loaded).empty();
}

/// Replaces a file with its conversion.
ExitCode replace(const FileInPlace& file, const std::string& text, const ConvertOptions& options,
                 const Output& output) {
  if (!options.backup) {
    const auto done = replace_in_place(file, text);
    return done ? exit_done : output.reject(done.error());
  }
  const auto backup = replace_with_backup(file, text);
  if (!backup) return output.reject(backup.error());
  const bool printed = output.result(fmt::format("backup: {}\n", printable(*backup)),
                                     BackupResult{.backup = *backup});
  if (printed) return exit_done;
  output.warning({.message = "already rewritten",
                  .advice = "its old text is in " + printable(*backup),
                  .position = {.file = options.file}});
  return exit_failed;
}

/// Prints or writes a conversion in the given format.
ExitCode deliver(const ConvertedFile& file, const tools::Conversion& converted, cdi::Format format,
                 const ConvertOptions& options, const Output& output) {
  if (file.in_place && is_same(file.spec, converted.spec)) return exit_done;
  auto text = cdi::write_spec(converted.spec, format, converted.owner);
  if (!text) {
    auto& error = text.error();
    error.position.file = file.spec.path;
    const bool lacks_owner = error.code == cdi::Errc::unsupported && format == cdi::Format::json;
    if (lacks_owner && !file.in_place) error.advice = "use -o yaml, or convert to 0.6.0 or newer";
    return output.reject(error);
  }
  if (file.in_place) return replace(*file.in_place, *text, options, output);
  return output.print(*text) ? exit_done : exit_failed;
}

/// The format of a file by its name, or of standard input by its first character.
cdi::Format own_format_of(const ConvertOptions& options, const ConvertedFile& file) {
  const auto named = cdi::format_of(options.file);
  if (named) return *named;
  return cdi::detail::begins_with_brace(file.input) ? cdi::Format::json : cdi::Format::yaml;
}

/// Prints or rewrites a spec file in another version, in its own format unless `-o` selects another
/// format.
ExitCode convert(const CommonOptions& common, ConvertOptions options, const Output& output) {
  if (auto good = complete_engine(options.engine, output); !good) {
    return output.reject(good.error());
  }
  const auto file = read_file_to_convert(common, options);
  if (!file) return output.reject(file.error());
  const auto& loaded = file->spec;
  print_warnings(loaded, output);
  const auto own_format = own_format_of(options, *file);
  const auto format = output.format() == OutputFormat::json   ? cdi::Format::json
                      : output.format() == OutputFormat::yaml ? cdi::Format::yaml
                                                              : own_format;
  if (format == own_format && is_read_already(options, loaded)) {
    return file->in_place ? exit_done : print_file(common, options, file->input, output);
  }
  const auto converted = convert_file(options, loaded);
  if (!converted) return output.reject(converted.error());
  options.lossy ? output.warnings(converted->losses) : output.errors(converted->losses);
  if (!options.lossy && !converted->losses.empty()) {
    return output.reject({.message = fmt::format("not converted to {}; --lossy converts it anyway",
                                                 converted->spec.version),
                          .position = {.file = loaded.path}});
  }
  auto retired = options.engine.empty() ? retired_member(converted->spec) : std::nullopt;
  if (retired) {
    retired->position.file = loaded.path;
    output.warning(*retired);
  }
  return deliver(*file, *converted, format, options, output);
}

void add_convert_options(CLI::App& app, ConvertOptions& options) {
  app.add_option("FILE", options.file, "Spec file, .json or .yaml, or - for standard input")
      ->required()
      ->check(not_empty);
  auto* const target = app.add_option_group("Target", "The version to convert to");
  target->add_option("--to", options.version, "A version of the CDI specification, such as 0.5.0")
      ->type_name("VERSION")
      ->check(CLI::IsMember(known_version_names()));
  target
      ->add_option("--for", options.engine,
                   "The newest CDI version that an engine reads; podman@4.9 is podman 4.9.0, and "
                   "podman is the version on this host")
      ->type_name("ENGINE[@VERSION]")
      ->transform(engine_of_word)
      ->check(tools::spec_reader_error);
  target->require_option(1);
  app.add_flag("--lossy", options.lossy, "Convert even if something is lost, with warnings");
  auto* const in_place =
      app.add_flag("--in-place", options.in_place, "Rewrite FILE instead of printing it");
  app.add_flag("--backup", options.backup,
               "Keep the old FILE as FILE.bak, or FILE.bak.2 and so on if that exists")
      ->needs(in_place);
  app.footer(engine_table);
}

/// Rejects options that contradict each other or the file name.
void check_convert_options(const ConvertOptions& options, const CommonOptions& common) {
  reject_quarantine("convert", common);
  if (options.in_place && options.file == "-") {
    throw CLI::ValidationError{"--in-place", "standard input cannot be rewritten: leave it out"};
  }
  const auto& format = common.format;
  const auto own = cdi::format_of(options.file);
  if (!options.in_place || !own || format == "text") return;
  if ((format == "json") == (*own == cdi::Format::json)) return;
  throw CLI::ValidationError{
      "--in-place",
      fmt::format("keeps the format that the file extension sets: leave out -o {}", format)};
}

Run set_up_convert(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<ConvertOptions>();
  add_convert_options(app, *options);
  app.callback([options, &common] { check_convert_options(*options, common); });
  return [options](const CommonOptions& given, const Output& output) {
    return convert(given, *options, output);
  };
}

}  // namespace

constexpr Command convert_command{"convert", "Print or rewrite a spec file in another CDI version",
                                  set_up_convert,
                                  "cdi convert --in-place --backup --to 0.5.0 my-vendor.yaml"};
