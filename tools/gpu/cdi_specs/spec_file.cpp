// The spec file of a kind: its owner, and how it is written and removed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "spec_file.hpp"

#include <algorithm>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/replace_file.hpp>
#include <cdi/publish/owned_file.hpp>

#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "../base/options.hpp"
#include "../model/gpu.hpp"
#include "kept_options.hpp"
#include "lost_libraries.hpp"

namespace prepare {

namespace {

/// Writes a spec file with its owner, and the options in its second line if the version has no
/// annotations.
cdi::Result<cdi::Publication> write_file(const Directory& directory, const PreparedSpec& prepared,
                                         cdi::DryRun dry_run, cdi::Replace replace) {
  const auto& name = prepared.file_name;
  auto done = publisher_in(directory).write(
      name, prepared.spec, prepared.options_comment.empty() ? dry_run : cdi::DryRun::yes, replace);
  if (!done || prepared.options_comment.empty()) return done;
  auto text = cdi::write_spec(prepared.spec, cdi::Format::yaml, tools::spec_owner);
  if (!text) return std::move(text).error();
  text->insert(text->find('\n') + 1,
               fmt::format("{}{}\n", tools::options_comment, prepared.options_comment));
  const std::string owner = tools::spec_owner;
  const auto action = cdi::detail::write_owned_file({directory.number(), directory.path, owner},
                                                    {name, *std::move(text)}, dry_run, replace);
  if (!action) return action.error();
  done->action = *action;
  if (dry_run == cdi::DryRun::yes || *action == cdi::Publication::Action::unchanged) return done;
  if (auto synced = cdi::sync_directory(directory.number(), done->path); !synced) {
    return std::move(synced).error();
  }
  return done;
}

/// Whether a run with another `--kind` has recorded the options, or a run with a `--vendor-file`
/// that is not lost and was not given this time.
bool is_of_other_run(const tools::WriteOptions& recorded, const Options& options) {
  const auto& given = options.vendor_files;
  return !recorded.kind.empty() ||
         std::any_of(recorded.vendor_files.begin(), recorded.vendor_files.end(),
                     [&](const std::string& file) {
                       return std::find(given.begin(), given.end(), file) == given.end() &&
                              !tools::is_lost_file(file);
                     });
}

/// Whether one of our files belongs to another run, which alone may remove it.
bool is_of_other_kind(const Directory& directory, const std::string& name, const Options& options) {
  if (!options.kind.empty()) {
    const auto own = file_name(options.kind, options);
    return name != own && name != name_in_other_format(own);
  }
  const auto loaded = read_with_options(directory.path_of(name));
  if (!loaded) return false;
  const auto recorded = tools::recorded_options(loaded->spec);
  return recorded && is_of_other_run(*recorded, options);
}

}  // namespace

std::string spec_path(const Options& options, const std::string& name) {
  return options.output_dir + (options.output_dir.ends_with('/') ? "" : "/") + name;
}

bool is_readable_by_all(const std::string& path) {
  constexpr mode_t by_all = S_IRUSR | S_IRGRP | S_IROTH;
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & by_all) == by_all;
}

cdi::Spec owned(const PreparedSpec& prepared) {
  auto spec = prepared.spec;
  if (prepared.options_comment.empty()) {
    spec.annotations.insert_or_assign(std::string{cdi::owner_annotation}, tools::spec_owner);
  }
  return spec;
}

cdi::Result<bool> remove_other_format(const cdi::Publisher& publisher, const std::string& name,
                                      cdi::DryRun dry_run) {
  const auto removed = publisher.remove(name_in_other_format(name), dry_run);
  if (removed) return removed->action == cdi::Publication::Action::removed;
  if (removed.error().code == cdi::Errc::conflict) return false;
  return removed.error();
}

cdi::Result<cdi::Publication> publish(const Options& options, const PreparedSpec& prepared) {
  const auto directory = open_directory(options, options.output_dir, Missing::made);
  if (!directory) return directory.error();
  const auto write = [&](cdi::DryRun dry_run, cdi::Replace replace) {
    return write_file(*directory, prepared, dry_run, replace);
  };
  auto done = write(cdi::DryRun::no, options.force ? cdi::Replace::any : cdi::Replace::own);
  if (done) {
    if (auto removed = remove_other_format(publisher_in(*directory), prepared.file_name);
        !removed) {
      return std::move(removed).error();
    }
  }
  if (done || done.error().code != cdi::Errc::conflict) return done;
  // The name of a spec file is fixed, so only another directory helps.
  auto& advice = done.error().advice;
  advice = "choose another --output-dir, or remove it by hand";
  if (write(cdi::DryRun::yes, cdi::Replace::any)) advice += ", or use --force to replace it";
  return done;
}

bool knows_all_kinds(const Survey& survey, const Options& options) {
  return survey.complete && !options.visible_only && options.devices.empty();
}

cdi::Result<std::set<std::string>> files_to_keep(const Directory& directory,
                                                 const PreparedSpecs& prepared,
                                                 const Options& options) {
  auto keep = prepared.files_that_stay;
  const auto ours = publisher_in(directory).files();
  if (!ours) return ours.error();
  for (const auto& name : *ours) {
    if (is_of_other_kind(directory, name, options)) keep.insert(name);
  }
  return keep;
}

std::vector<Outdated> outdated_among(const cdi::Reconciled& pruned, const Survey& survey,
                                     const PreparedSpecs& prepared) {
  const auto has_gpus = [&](std::string_view path) {
    const auto& kinds = survey.inventories;
    return std::any_of(kinds.begin(), kinds.end(), [&](const Inventory& found) {
      return path.ends_with("/" + *cdi::spec_name(found.kind) + ".yaml") ||
             path.ends_with("/" + *cdi::spec_name(found.kind) + ".json");
    });
  };
  std::vector<Outdated> out;
  for (const auto& file : pruned.files) {
    if (file.action != cdi::Publication::Action::removed) continue;
    const auto old = prepared.old_numbers.find(file.path.substr(file.path.rfind('/') + 1));
    out.push_back({file.path, old != prepared.old_numbers.end() ? old->second
                              : has_gpus(file.path) ? "no device of its kind can be handed out"
                                                    : "the host no longer has such a device"});
  }
  return out;
}

cdi::Result<std::vector<Outdated>> outdated_files(const Survey& survey,
                                                  const PreparedSpecs& prepared,
                                                  const Options& options) {
  if (!knows_all_kinds(survey, options)) return std::vector<Outdated>{};
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory) return directory.error();
  const auto keep = files_to_keep(*directory, prepared, options);
  if (!keep) return keep.error();
  const auto planned = publisher_in(*directory).prune(*keep, cdi::DryRun::yes);
  if (!planned) return planned.error();
  return outdated_among(*planned, survey, prepared);
}

}  // namespace prepare
