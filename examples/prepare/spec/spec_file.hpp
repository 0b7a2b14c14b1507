// The spec file of a kind: its owner, and how it is written.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_SPEC_SPEC_FILE_HPP
#define CDI_PREPARE_SPEC_SPEC_FILE_HPP

#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../vendors/survey.hpp"
#include "prepared_spec.hpp"

namespace prepare {

inline constexpr const char* spec_owner = "cdi-prepare";

inline std::string spec_path(const Options& options, const std::string& name) {
  return options.output_dir + (options.output_dir.ends_with('/') ? "" : "/") + name;
}

inline bool is_readable_by_all(const std::string& path) {
  constexpr mode_t by_all = S_IRUSR | S_IRGRP | S_IROTH;
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & by_all) == by_all;
}

/// The spec with its owner, when its release can hold that.
inline cdi::Spec owned(cdi::Spec spec, const Options& options) {
  if (has_annotations(options)) {
    spec.annotations.insert_or_assign(std::string{cdi::owner_annotation}, spec_owner);
  }
  return spec;
}

inline cdi::Publisher publisher_in(const Directory& directory) {
  return {spec_owner, directory.number(), directory.path};
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
  const bool refused = !done && done.error().code == cdi::Errc::conflict;
  if (refused && write(cdi::DryRun::yes, cdi::Replace::any)) {
    done.error().message += ", or give --force to replace it";
  }
  return done;
}

/// Whether the host surely lacks a kind that was not found: all of the PCI bus was read, and no GPU
/// was hidden.
inline bool knows_all_kinds(const Survey& survey, const Options& options) {
  return survey.complete && !options.visible_only;
}

/// The paths of our files for kinds without usable GPUs.
inline cdi::Result<std::vector<std::string>> outdated_files(const Survey& survey,
                                                            const PreparedSpecs& prepared,
                                                            const Options& options) {
  if (!knows_all_kinds(survey, options)) return std::vector<std::string>{};
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory) return directory.error();
  const auto planned = publisher_in(*directory).prune(prepared.files_that_stay, cdi::DryRun::yes);
  if (!planned) return planned.error();
  std::vector<std::string> paths;
  for (const auto& file : planned->files) {
    if (file.action == cdi::Publication::Action::removed) paths.push_back(file.path);
  }
  return paths;
}

}  // namespace prepare

#endif  // CDI_PREPARE_SPEC_SPEC_FILE_HPP
