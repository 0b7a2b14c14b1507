// `cdi remove`: removes spec files by device, kind or file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/files/file_state.hpp>

#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/in_place.hpp"
#include "../base/option_checks.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/spec_dirs.hpp"
#include "../results/files.hpp"
#include "commands.hpp"
#include "write.hpp"

namespace {

/// The options of `remove`.
struct RemoveOptions {
  std::vector<std::string> words{};  // devices, kinds and files
  std::string owner = write_owner;
  bool force = false;
  bool dry_run = false;
};

/// The error for a word that selects no file.
cdi::Error nothing_found(const CommonOptions& common, std::string_view what) {
  std::string dirs;
  for (const auto& dir : common.spec_dirs()) {
    dirs.append(dirs.empty() ? "" : ", ").append(printable(dir));
  }
  return {.code = cdi::Errc::not_found, .message = fmt::format("{} in {}", what, dirs)};
}

/// The files of a name in the spec directories, or the file of a path.
cdi::Result<std::vector<std::string>> files_named(const CommonOptions& common,
                                                  const std::string& word) {
  std::vector<std::string> paths;
  std::vector<std::string> possible;
  for (const auto& dir : common.spec_dirs()) possible.push_back(cdi::clean_path(dir) + "/" + word);
  if (word.find('/') != std::string::npos) possible = {cdi::clean_path(word)};
  for (const auto& path : possible) {
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, none))) paths.push_back(path);
  }
  if (!paths.empty()) return paths;
  if (word.find('/') == std::string::npos)
    return nothing_found(common, fmt::format("there is no file {}", cdi::quoted(word)));
  return cdi::Error{
      .code = cdi::Errc::not_found, .message = "there is no such file", .position = {.file = word}};
}

/// The files of a kind, even those that are not valid.
cdi::Result<std::vector<std::string>> files_of_kind(const CommonOptions& common,
                                                    const cdi::Registry& registry,
                                                    const std::string& kind) {
  std::vector<std::string> paths;
  for (const auto& spec : registry.specs()) {
    if (spec->spec.kind == kind) paths.push_back(spec->path);
  }
  for (const auto& file : registry.rejected()) {
    if (file->kind == kind) paths.push_back(file->why.position.file);
  }
  if (paths.empty())
    return nothing_found(common, fmt::format("there is no spec of kind {}", cdi::quoted(kind)));
  return paths;
}

/// The error for a file that also defines devices to keep.
cdi::Error has_others(const std::string& path, std::string message) {
  return {.code = cdi::Errc::conflict,
          .message = std::move(message),
          .advice = "give the file or the kind to remove all of them",
          .position = {.file = path}};
}

/// The files that define a device, and must define nothing else.
cdi::Result<std::vector<std::string>> files_of_device(const CommonOptions& common,
                                                      const cdi::Registry& registry,
                                                      const cdi::QualifiedName& name) {
  std::vector<std::string> paths;
  const auto kind = std::string{name.vendor}.append("/").append(name.device_class);
  for (const auto& spec : registry.specs()) {
    const auto& devices = spec->spec.devices;
    const auto& invalid = spec->quarantined;
    const auto is_named = [&](const auto& device) {
      return device.name == name.device;
    };
    const bool defines = std::any_of(devices.begin(), devices.end(), is_named) ||
                         std::any_of(invalid.begin(), invalid.end(), is_named);
    if (spec->spec.kind != kind || !defines) continue;
    if (const auto all = devices.size() + invalid.size(); all > 1) {
      return has_others(spec->path, fmt::format("also defines other devices of {}, in all {}",
                                                cdi::quoted(kind), all));
    }
    paths.push_back(spec->path);
  }
  if (paths.empty())
    return nothing_found(common, fmt::format("there is no device {}",
                                             cdi::quoted(cdi::qualified_name(kind, name.device))));
  return paths;
}

/// The files that define devices that a pattern matches, and must define nothing else.
cdi::Result<std::vector<std::string>> files_of_pattern(const cdi::Registry& registry,
                                                       const std::string& pattern) {
  const auto glob = tools::Glob::parse(pattern);
  if (!glob) return detail::invalid_glob(pattern, glob.error()).why;
  std::vector<std::string> paths;
  for (const auto& loaded : registry.specs()) {
    const auto& devices = loaded->spec.devices;
    const auto is_match = [&](const auto& device) {
      return glob->matches(cdi::qualified_name(loaded->spec.kind, device.name));
    };
    const auto& invalid = loaded->quarantined;
    const auto matching = std::count_if(devices.begin(), devices.end(), is_match) +
                          std::count_if(invalid.begin(), invalid.end(), is_match);
    const auto all = devices.size() + invalid.size();
    if (matching == 0) continue;
    if (static_cast<std::size_t>(matching) < all) {
      return has_others(loaded->path,
                        fmt::format("also defines devices that {} does not match: {} of its {} "
                                    "match",
                                    cdi::quoted(pattern), matching, all));
    }
    paths.push_back(loaded->path);
  }
  if (!paths.empty()) return paths;
  return expand_names({pattern}, registry).failed.front().why;
}

/// The files that a word selects.
cdi::Result<std::vector<std::string>> files_of_word(const CommonOptions& common,
                                                    const cdi::Registry& registry,
                                                    const std::string& word) {
  if (cdi::format_of(word) && !cdi::parse_name(word)) return files_named(common, word);
  if (word.find('=') == std::string::npos) {
    const auto kind = cdi::parse_kind(word);
    if (kind) return files_of_kind(common, registry, word);
    return cdi::Error{
        .code = cdi::Errc::invalid_name,
        .message = fmt::format("{} is not a device, kind or spec file", cdi::quoted(word)),
        .advice =
            "write vendor.com/class=device, vendor.com/class, or a name that "
            "ends in .yaml or .json"};
  }
  if (is_glob(word)) return files_of_pattern(registry, word);
  const auto name = cdi::parse_name(word);
  if (!name) return cdi::qualified_name_error(word);
  return files_of_device(common, registry, *name);
}

/// Removes a file, or only checks whether it may be removed.
cdi::Result<cdi::Publication> remove_file(const RemoveOptions& options, const std::string& path,
                                          cdi::DryRun dry_run) {
  const auto dir = dir_of(path);
  const auto directory = open_to_write(dir, IfMissing::fail);
  if (!directory) return directory.error();
  const cdi::Publisher publisher{options.owner, directory->get(), dir};
  const auto replace = options.force ? cdi::Replace::any : cdi::Replace::own;
  auto done = publisher.remove(path.substr(path.rfind('/') + 1), dry_run, replace);
  if (!done && done.error().code == cdi::Errc::conflict && !options.force) {
    done.error().advice = "remove it with --force";
  }
  return done;
}

/// The files to remove, or nullopt after an error. The files of a kind that are not removable are
/// kept with a warning if others are.
std::optional<std::set<std::string>> plan_removal(const CommonOptions& common,
                                                  const RemoveOptions& options,
                                                  const Output& output) {
  const auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  std::set<std::string> removed;
  bool good = true;
  for (const auto& word : options.words) {
    const auto paths = files_of_word(common, *registry, word);
    if (!paths) output.error(paths.error());
    good = good && paths.has_value();
    if (!paths) continue;
    std::vector<cdi::Error> kept;
    for (const auto& path : *paths) {
      auto done = remove_file(options, path, cdi::DryRun::yes);
      done ? static_cast<void>(removed.insert(path)) : kept.push_back(std::move(done).error());
    }
    const bool some = kept.size() < paths->size();
    for (const auto& error : kept) some ? output.warning(error) : output.error(error);
    good = good && some;
  }
  return good ? std::optional{std::move(removed)} : std::nullopt;
}

/// Removes the files that the words select; everything is checked before the first is removed.
ExitCode remove_specs(const CommonOptions& common, const RemoveOptions& options,
                      const Output& output) {
  const auto planned = plan_removal(common, options, output);
  if (!planned) return exit_failed;
  std::string text;
  RemoveResult value{.dry_run = options.dry_run};
  for (const auto& path : *planned) {
    if (!options.dry_run) {
      const auto done = remove_file(options, path, cdi::DryRun::no);
      if (!done) {
        for (const auto& file : value.removed) {
          output.warning({.message = "already removed", .position = {.file = file}});
        }
        return output.reject(done.error());
      }
    }
    text +=
        fmt::format("{}: {}\n", printable(path), options.dry_run ? "would be removed" : "removed");
    value.removed.push_back(path);
  }
  return output.result(text, value) ? exit_done : exit_failed;
}

Run set_up_remove(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<RemoveOptions>();
  app.add_option("NAME", options->words,
                 "What to remove: a device whose file defines no other, or a pattern of devices; "
                 "all files of a kind; or a file, by its path or by its name in the spec "
                 "directories")
      ->required()
      ->check(not_empty);
  app.add_option("--owner", options->owner, "The owner that the files record")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(owner_error);
  app.add_flag("--force", options->force, "Remove files of any owner");
  app.add_flag("--dry-run", options->dry_run, "Print what would be removed, and remove nothing");
  app.footer(
      "Only files that `cdi write` wrote are removed, or with --owner the files of another owner.\n"
      "`cdi gc --owner` removes all files of an owner.\n\n" +
      exit_code_table("remove") + "With exit code 1, some files may already be removed.\n");
  return [options](const CommonOptions& given, const Output& output) {
    return remove_specs(given, *options, output);
  };
}

}  // namespace

constexpr Command remove_command{"remove", "Remove spec files by device, kind or file",
                                 set_up_remove, "cdi remove vendor.com/gpu --dry-run"};
