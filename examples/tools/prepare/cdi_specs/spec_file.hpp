// The spec file of a kind: its owner, and how it is written and removed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CDI_SPECS_SPEC_FILE_HPP
#define CDI_TOOLS_PREPARE_CDI_SPECS_SPEC_FILE_HPP

#include <algorithm>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../../shared/cdi_specs/write_command.hpp"
#include "../base/options.hpp"
#include "../gpu/gpu.hpp"
#include "../host/directories.hpp"
#include "../vendors/survey.hpp"
#include "prepared_spec.hpp"

namespace prepare {

inline std::string spec_path(const Options& options, const std::string& name) {
  return options.output_dir + (options.output_dir.ends_with('/') ? "" : "/") + name;
}

inline bool is_readable_by_all(const std::string& path) {
  constexpr mode_t by_all = S_IRUSR | S_IRGRP | S_IROTH;
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & by_all) == by_all;
}

/// The spec with its owner, if its version can record one.
inline cdi::Spec owned(cdi::Spec spec, const Options& options) {
  if (has_annotations(options)) {
    spec.annotations.insert_or_assign(std::string{cdi::owner_annotation}, tools::spec_owner);
  }
  return spec;
}

inline cdi::Publisher publisher_in(const Directory& directory) {
  return {tools::spec_owner, directory.number(), directory.path};
}

/// Writes a spec file. It replaces a file of another program only with `--force`.
inline cdi::Result<cdi::Publication> publish(const Options& options, const PreparedSpec& prepared) {
  const auto directory = open_directory(options, options.output_dir, Missing::made);
  if (!directory) return directory.error();
  const auto publisher = publisher_in(*directory);
  const auto write = [&](cdi::DryRun dry_run, cdi::Replace replace) {
    return publisher.write(prepared.file_name, prepared.spec, dry_run, replace);
  };
  auto done = write(cdi::DryRun::no, options.force ? cdi::Replace::any : cdi::Replace::own);
  if (done || done.error().code != cdi::Errc::conflict) return done;
  // The name of a spec file is fixed, so only another directory helps.
  auto& advice = done.error().advice;
  advice = "choose another --output-dir, or remove it by hand";
  if (write(cdi::DryRun::yes, cdi::Replace::any)) advice += ", or use --force to replace it";
  return done;
}

/// Whether the host certainly lacks a kind that was not found: the whole PCI bus was read, and no
/// GPU was hidden.
inline bool knows_all_kinds(const Survey& survey, const Options& options) {
  return survey.complete && !options.visible_only;
}

/// One of our files, for a kind without usable GPUs or with a wrong device.
struct Outdated {
  std::string path{};
  std::string reason{};
};

/// The outdated files among the pruned files.
inline std::vector<Outdated> outdated_among(const cdi::Reconciled& pruned, const Survey& survey,
                                            const PreparedSpecs& prepared) {
  const auto has_gpus = [&](std::string_view path) {
    const auto& kinds = survey.inventories;
    return std::any_of(kinds.begin(), kinds.end(), [&](const Inventory& found) {
      return path.ends_with("/" + file_name(found.kind));
    });
  };
  std::vector<Outdated> out;
  for (const auto& file : pruned.files) {
    if (file.action != cdi::Publication::Action::removed) continue;
    const auto old = prepared.old_numbers.find(file.path.substr(file.path.rfind('/') + 1));
    out.push_back({file.path, old != prepared.old_numbers.end() ? old->second
                              : has_gpus(file.path) ? "no GPU of its kind can be handed out"
                                                    : "the host no longer has such a GPU"});
  }
  return out;
}

/// Our files for kinds without usable GPUs.
inline cdi::Result<std::vector<Outdated>> outdated_files(const Survey& survey,
                                                         const PreparedSpecs& prepared,
                                                         const Options& options) {
  if (!knows_all_kinds(survey, options)) return std::vector<Outdated>{};
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory) return directory.error();
  const auto planned = publisher_in(*directory).prune(prepared.files_that_stay, cdi::DryRun::yes);
  if (!planned) return planned.error();
  return outdated_among(*planned, survey, prepared);
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CDI_SPECS_SPEC_FILE_HPP
