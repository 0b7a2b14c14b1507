// `cdi gc`: removes the spec files of an owner, or unused generated files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <cdi/sandbox.hpp>

#include "../../kit/base/text.hpp"
#include "../base/exit_codes.hpp"
#include "../base/option_checks.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../results/files.hpp"
#include "commands.hpp"

namespace {

/// The options of `gc`.
struct GcOptions {
  std::string owner{};
  std::vector<std::string> keep{};  // file names
  std::string state_dir{};          // of generated files, instead of an owner
  unsigned unused = 30;             // in days
  bool dry_run = false;
};

/// The files removed from the directories; in a dry run, the files that would be removed.
struct Garbage {
  std::vector<std::string> removed{};      // spec files of the owner
  std::vector<std::string> temporaries{};  // of killed writers
  std::set<std::string> kept{};            // by name
  bool complete = true;                    // no step failed
};

/// The directories from `--spec-dir`, or the directory for transient specs.
std::vector<std::string> dirs_to_clean(const CommonOptions& common) {
  if (common.dirs_named()) return common.named_dirs;
  return {common.spec_dirs().back()};
}

/// Removes the files of an owner from all directories, or finds them in a dry run; reports errors.
Garbage remove_garbage(const CommonOptions& common, const GcOptions& options, cdi::DryRun dry_run,
                       const Output& output) {
  Garbage all;
  const std::set<std::string> keep{options.keep.begin(), options.keep.end()};
  for (const auto& dir : dirs_to_clean(common)) {
    const auto done = cdi::Publisher{options.owner, dir}.prune(keep, dry_run);
    if (!done) {
      output.error(done.error());
      all.complete = false;
      continue;
    }
    for (const auto& error : done->errors) output.error(error);
    all.complete = all.complete && done->errors.empty();
    for (const auto& [path, action] : done->files) {
      if (action == cdi::Publication::Action::removed) all.removed.push_back(path);
      if (action == cdi::Publication::Action::unchanged) {
        all.kept.insert(path.substr(path.rfind('/') + 1));
      }
    }
    all.temporaries.insert(all.temporaries.end(), done->temporaries.begin(),
                           done->temporaries.end());
    if (dry_run == cdi::DryRun::no) continue;  // the dry run has reported the rest
    if (std::error_code ignored; !std::filesystem::exists(dir, ignored)) {
      output.warning(missing_dir(dir));
    }
    for (const auto& error : done->unreadable) output.warning(error);
  }
  return all;
}

ExitCode print_garbage(const Garbage& garbage, const GcOptions& options, const Output& output) {
  const std::string_view done = options.dry_run ? "would be removed" : "removed";
  std::string text;
  for (const auto& path : garbage.removed) {
    text += fmt::format("{}: {}\n", printable(path), done);
  }
  for (const auto& path : garbage.temporaries) {
    text += fmt::format("{}: {}, left by a killed writer\n", printable(path), done);
  }
  if (text.empty()) {
    text = fmt::format("owner {} has no files to remove\n", cdi::quoted(options.owner));
  }
  const RemoveResult value{
      .dry_run = options.dry_run, .removed = garbage.removed, .temporaries = garbage.temporaries};
  return output.result(text, value) ? exit_done : exit_failed;
}

/// Removes the spec files of an owner. Checks all directories before the first change.
ExitCode collect_garbage(const CommonOptions& common, const GcOptions& options,
                         const Output& output) {
  const auto planned = remove_garbage(common, options, cdi::DryRun::yes, output);
  if (!planned.complete) return exit_failed;
  for (const auto& name : options.keep) {
    if (planned.kept.contains(name)) continue;
    output.warning({.message = fmt::format("nothing to keep: owner {} has no file {}",
                                           cdi::quoted(options.owner), cdi::quoted(name))});
  }
  if (options.dry_run) return print_garbage(planned, options, output);
  const auto done = remove_garbage(common, options, cdi::DryRun::no, output);
  if (done.complete) return print_garbage(done, options, output);
  for (const auto* paths : {&done.removed, &done.temporaries}) {
    for (const auto& path : *paths) {
      output.warning({.message = "already removed", .position = {.file = path}});
    }
  }
  return exit_failed;
}

/// Removes the generated files of a state directory that were not used for some days.
ExitCode remove_state(const GcOptions& options, const Output& output) {
  const std::chrono::seconds unused = std::chrono::hours{24} * options.unused;
  const auto names = options.dry_run ? cdi::unused_generated(options.state_dir, unused)
                                     : cdi::remove_generated(options.state_dir, unused);
  if (!names) return output.reject(names.error());
  std::string text;
  RemoveResult value{.dry_run = options.dry_run};
  for (const auto& name : *names) {
    const auto path = options.state_dir + "/" + name;
    text +=
        fmt::format("{}: {}\n", printable(path), options.dry_run ? "would be removed" : "removed");
    value.removed.push_back(path);
  }
  if (text.empty()) text = fmt::format("no file is unused for {} days\n", options.unused);
  return output.result(text, value) ? exit_done : exit_failed;
}

/// Why a text is not a number of days; empty if it is one.
std::string days_error(const std::string& text) {
  const bool is_decimal = text == "0" || !text.starts_with('0');  // the parser also reads others
  if (is_decimal && tools::parse_number<unsigned>(text)) return {};
  return cdi::quoted(text) + " is not a number of days, such as 30";
}

Run set_up_gc(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<GcOptions>();
  auto* const what = app.add_option_group("What to remove");
  what->require_option(1);
  auto* const owner =
      what->add_option("--owner", options->owner, "The spec files that record this owner");
  owner->type_name("NAME")->check(owner_error);
  auto* const state = what->add_option("--state-dir", options->state_dir,
                                       "The files that inject and args generated in DIR, if they "
                                       "are unused");
  state->type_name("DIR")->check(not_empty);
  app.add_option("--unused", options->unused, "Days since a generated file was last used")
      ->type_name("DAYS")
      ->capture_default_str()
      ->check(days_error)
      ->needs(state);
  add_repeated(app, "--keep", options->keep, "Name of a file to keep; may be repeated")
      ->type_name("FILE")
      ->check(file_name_error)
      ->needs(owner);
  app.add_flag("--dry-run", options->dry_run, "Print what would be removed, and remove nothing");
  app.footer(
      "Cleans the -d directories, or without -d only /var/run/cdi. A file is removed only if\n"
      "it records the owner: in the annotation " +
      std::string{cdi::owner_annotation} +
      ", or, in YAML, in a\n"
      "comment on its first line. Temporary files left by killed writers are also removed, "
      "whoever\n"
      "owns them. Files that cannot be read are kept, with a warning.\n\n"
      "A generated file is unused if no inject or args has named it for --unused days. A\n"
      "container that was injected before and starts again later does not find it: inject\n"
      "again, or give more days than containers live.\n\n" +
      exit_code_table("gc") + "With exit code 1, some files may already be removed.\n");
  return [options](const CommonOptions& given, const Output& output) {
    if (!options->state_dir.empty()) return remove_state(*options, output);
    return collect_garbage(given, *options, output);
  };
}

}  // namespace

constexpr Command gc_command{"gc", "Remove the spec files of an owner, or unused generated files",
                             set_up_gc, "cdi gc --owner my-driver --dry-run"};
