// `cdi write`: publishes a spec in a spec directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "write.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"
#include "../../kit/host/denied.hpp"
#include "../base/exit_codes.hpp"
#include "../base/in_place.hpp"
#include "../base/option_checks.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/spec_input.hpp"
#include "../results/files.hpp"
#include "../specs/rivals.hpp"
#include "commands.hpp"

namespace {

/// The options of `write`.
struct WriteOptions {
  std::string file{};
  std::string name{};  // of the new file; by convention if empty
  std::string owner = write_owner;
  bool force = false;
  bool replace = false;
  bool dry_run = false;
};

/// The directory to write to, as the registry names it: the last of --spec-dir, or else the
/// directory for specs of an administrator, which outlive a reboot.
std::string dir_to_write(const CommonOptions& common) {
  return cdi::clean_path(common.dirs_named() ? common.named_dirs.back()
                                             : common.spec_dirs().front());
}

/// The spec to publish: complete, and without the record of a former owner.
cdi::Result<cdi::Spec> read_spec_to_write(const CommonOptions& common, const WriteOptions& options,
                                          const Output& output) {
  const auto loaded = read_spec(options.file, common.reading);
  if (!loaded) return loaded.error();
  output.warnings(loaded->warnings);
  auto spec = whole_spec(*loaded);
  if (!spec) return std::move(spec).error();
  return std::move(spec->spec);
}

/// The name of the file: of `--name`, or else by convention. YAML can record an owner in any CDI
/// version, JSON only from 0.6.0 on.
std::string name_to_write(const WriteOptions& options, const cdi::Spec& spec) {
  return options.name.empty() ? *cdi::spec_name(spec.kind) + ".yaml" : options.name;
}

/// Whether a spec may be written despite the other specs; reports conflicts.
bool report_rivals(const Rivals& rivals, bool force, const Output& output) {
  for (const auto& note : rivals.notes) output.warning(note);
  for (const auto& conflict : rivals.conflicts) {
    force ? output.warning(conflict) : output.error(conflict);
  }
  return force || rivals.conflicts.empty();
}

/// Whether the old file may be replaced although the new one lacks some of its devices.
bool report_dropped(const std::vector<std::string>& dropped, const std::string& path, bool replace,
                    const Output& output) {
  if (dropped.empty() || replace) return true;
  output.error({.code = cdi::Errc::conflict,
                .message = "the new file would no longer define " + tools::listed(dropped, 5),
                .advice = "add them to the spec, or drop them with --replace",
                .position = {.file = path}});
  return false;
}

ExitCode print_written(const cdi::Publication& done, const std::vector<std::string>& dropped,
                       const WriteOptions& options, const Output& output) {
  const auto action = to_string(done.action);
  const auto lost = dropped.empty() ? "" : "; no longer defines " + tools::listed(dropped, 5);
  const auto text = fmt::format("{}: {}{}{}\n", printable(done.path),
                                options.dry_run ? "would be " : "", action, lost);
  const WriteResult value{
      .dry_run = options.dry_run, .file = done.path, .action = action, .dropped = dropped};
  return output.result(text, value) ? exit_done : exit_failed;
}

/// Checks everything, and then writes the file.
ExitCode write_published(const CommonOptions& common, const WriteOptions& options,
                         const Output& output) {
  const auto spec = read_spec_to_write(common, options, output);
  if (!spec) return output.reject(spec.error());
  const auto name = name_to_write(options, *spec);
  const auto dir = dir_to_write(common);
  const auto reject = [&](const cdi::Error& error) {
    return output.reject(tools::with_denied_advice(error, "-d"));
  };
  auto directory = open_to_write(dir, IfMissing::fail);
  if (!directory) return reject(directory.error());
  const auto publish = [&](cdi::DryRun dry_run, bool force) {
    const auto replace = force ? cdi::Replace::any : cdi::Replace::own;
    return cdi::Publisher{options.owner, directory->get(), dir}.write(name, *spec, dry_run,
                                                                      replace);
  };
  auto done = publish(cdi::DryRun::yes, options.force);
  if (!done && done.error().code == cdi::Errc::conflict) {
    done.error().advice = publish(cdi::DryRun::yes, true)
                              ? "choose another --name, or replace the file with --force"
                              : "choose another --name, or remove it by hand";
  }
  if (!done) return output.reject(done.error());
  const auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  const auto rivals = find_rivals(*registry, *spec, done->path);
  const auto dropped = dropped_devices(*registry, *spec, done->path);
  const bool no_conflict = report_rivals(rivals, options.force, output);
  const bool none_lost = report_dropped(dropped, done->path, options.replace, output);
  if (!no_conflict || !none_lost) return exit_failed;
  if (!options.dry_run) {
    if (!*directory) directory = open_to_write(dir, IfMissing::make_directories);
    if (!directory) return reject(directory.error());
    done = publish(cdi::DryRun::no, options.force);
  }
  return done ? print_written(*done, dropped, options, output) : reject(done.error());
}

Run set_up_write(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<WriteOptions>();
  app.add_option("FILE", options->file, "Spec file, .json or .yaml, or - for standard input")
      ->required()
      ->check(not_empty);
  app.add_option(
         "--name", options->name,
         "The name of the new file, which ends in .yaml or .json (default: vendor.com-class.yaml)")
      ->type_name("FILE")
      ->check(file_name_error);
  app.add_option("--owner", options->owner, "The owner that the file records")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(owner_error);
  app.add_flag("--force", options->force,
               "Replace a file of another owner, and write in spite of conflicts");
  app.add_flag("--replace", options->replace,
               "Replace a file although the new one lacks some of its devices");
  app.add_flag("--dry-run", options->dry_run, "Check everything, but write nothing");
  app.footer(
      "Writes to the last -d directory, or without -d to /etc/cdi. A file that records another\n"
      "owner, or none, is not replaced without --force. If another file of the directory defines\n"
      "one of the devices, nothing is written without --force. A file that defines other devices,\n"
      "too, is not replaced without --replace.\n\n" +
      exit_code_table("write"));
  app.callback([&common] { reject_quarantine("write", common); });
  return [options](const CommonOptions& given, const Output& output) {
    return write_published(given, *options, output);
  };
}

}  // namespace

constexpr Command write_command{"write", "Write a spec to a spec directory", set_up_write,
                                "cdi write vendor.yaml"};
