// `cdi gc`: removes the spec files of an owner.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_GC_COMMAND_HPP
#define CDI_EXAMPLES_CDI_GC_COMMAND_HPP

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "exit_codes.hpp"
#include "output.hpp"
#include "request.hpp"

/// The options of `gc` in addition to those of all commands.
struct GcRequest {
  std::string owner{};
  std::vector<std::string> keep{};  // file names
  bool dry_run = false;
};

/// Why the name of an owner, or of a file to keep, is not valid; empty if it is.
inline std::string owner_error(const std::string& owner) {
  const auto good = cdi::check_owner(owner);
  return good ? std::string{} : good.error().message;
}
inline std::string keep_error(const std::string& name) {
  const auto good = cdi::check_spec_file_name(name);
  return good ? std::string{} : good.error().message;
}

/// What is removed from some directories; in a dry run, what would be removed.
struct Garbage {
  std::vector<std::string> removed{};      // spec files of the owner
  std::vector<std::string> temporaries{};  // of killed writers
  std::set<std::string> kept{};            // by name
  bool complete = true;                    // nothing failed
};

/// The directories of `--spec-dir`, or the one that programs write to.
inline std::vector<std::string> dirs_to_clean(const Request& request) {
  if (request.dirs_named) return request.spec_dirs;
  return {request.spec_dirs.back()};
}

/// Removes the files of an owner from all directories, or finds them in a dry run; reports errors.
inline Garbage remove_garbage(const Request& request, const GcRequest& gc, cdi::DryRun dry_run,
                              const Output& output) {
  Garbage all;
  const std::set<std::string> keep{gc.keep.begin(), gc.keep.end()};
  for (const auto& dir : dirs_to_clean(request)) {
    const auto done = cdi::Publisher{gc.owner, dir}.prune(keep, dry_run);
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
    if (dry_run == cdi::DryRun::no) continue;  // the rest was reported in the dry run
    if (std::error_code ignored; !std::filesystem::exists(dir, ignored)) {
      output.warning({.message = "no such directory", .position = {.file = dir}});
    }
    for (const auto& error : done->unreadable) output.warning(error);
  }
  return all;
}

inline ExitCode print_garbage(const Garbage& garbage, const GcRequest& gc, const Output& output) {
  const std::string_view done = gc.dry_run ? "would be removed" : "removed";
  std::string text;
  for (const auto& path : garbage.removed) {
    text += fmt::format("{}: {}\n", printable(path), done);
  }
  for (const auto& path : garbage.temporaries) {
    text += fmt::format("{}: {}, left by a killed writer\n", printable(path), done);
  }
  if (text.empty()) {
    text = fmt::format("no files to remove of owner {}\n", cdi::quoted(gc.owner));
  }
  const Json value{
      {"dryRun", gc.dry_run}, {"removed", garbage.removed}, {"temporaries", garbage.temporaries}};
  return output.result(text, value) ? exit_done : exit_refused;
}

/// Removes the spec files of an owner. Checks all directories before the first change.
inline ExitCode collect_garbage(const Request& request, const GcRequest& gc, const Output& output) {
  const auto planned = remove_garbage(request, gc, cdi::DryRun::yes, output);
  if (!planned.complete) return exit_refused;
  for (const auto& name : gc.keep) {
    if (planned.kept.contains(name)) continue;
    output.warning({.message = fmt::format("nothing to keep: owner {} has no file {}",
                                           cdi::quoted(gc.owner), cdi::quoted(name))});
  }
  if (gc.dry_run) return print_garbage(planned, gc, output);
  const auto done = remove_garbage(request, gc, cdi::DryRun::no, output);
  if (done.complete) return print_garbage(done, gc, output);
  for (const auto* paths : {&done.removed, &done.temporaries}) {
    for (const auto& path : *paths) {
      output.warning({.message = "already removed", .position = {.file = path}});
    }
  }
  return exit_refused;
}

#endif  // CDI_EXAMPLES_CDI_GC_COMMAND_HPP
