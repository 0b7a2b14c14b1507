// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_SPEC_FILE_HPP
#define CDI_PREPARE_SPEC_FILE_HPP

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/descriptor.hpp>
#include <cdi/file.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/version.hpp>

#include "directories.hpp"
#include "options.hpp"
#include "specs.hpp"
#include "survey.hpp"

// The spec file of a kind: whose it is, and how it is written.

namespace prepare {

inline constexpr const char* spec_owner = "cdi-prepare";

inline std::string spec_path(const Options& options, const std::string& name) {
  return options.output_dir + (options.output_dir.ends_with('/') ? "" : "/") + name;
}

/// Whether a spec can say whose it is: annotations are there since 0.6.0.
inline bool can_record_owner(const Options& options) {
  return !options.max_version || *options.max_version >= cdi::Release{0, 6, 0};
}

/// The first line of a file of ours whose release has no place for an owner.
inline constexpr std::string_view mark =
    "# Written by cdi-prepare, which will replace or remove it.\n";

/// Whether a file begins with the mark. Its path begins at an open directory, if one is given.
inline bool is_marked(const std::string& path, int directory = AT_FDCWD) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const cdi::Descriptor file{::openat(directory, path.c_str(), flags)};
  std::string text(mark.size(), '\0');
  const auto size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  return size == static_cast<ssize_t>(mark.size()) && text == mark;
}

/// Whether a file is ours, or is not there; `there` is what was read of it.
inline bool may_replace(const std::string& path, const cdi::Result<cdi::LoadedSpec>& there) {
  if (!there) return there.error().system == ENOENT || is_marked(path);
  const auto owner = there->spec.annotations.find(std::string{cdi::owner_annotation});
  return is_marked(path) || (owner != there->spec.annotations.end() && owner->second == spec_owner);
}

inline bool is_readable_by_all(const std::string& path) {
  constexpr mode_t by_all = S_IRUSR | S_IRGRP | S_IROTH;
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & by_all) == by_all;
}

/// Writes a file as a publisher would, but for its rules of ownership; `there` is what was read of
/// it.
inline cdi::Result<cdi::Publication> write_over(const Options& options, const Directory& directory,
                                                const std::string& name,
                                                const cdi::Result<cdi::LoadedSpec>& there,
                                                const cdi::Spec& spec) {
  using Action = cdi::Publication::Action;
  const auto path = directory.path_of(name);
  const bool same_form = can_record_owner(options) != is_marked(path) && is_readable_by_all(path);
  if (there && there->spec == spec && same_form) return cdi::Publication{path, Action::unchanged};
  auto text = cdi::write_spec(spec, cdi::Format::yaml);
  if (!text) return text.error();
  if (!can_record_owner(options)) text->insert(0, mark);
  if (auto wrote = replace_file(directory, name, *text, 0644); !wrote) {
    return std::move(wrote).error();
  }
  const bool missing = !there && there.error().system == ENOENT;
  return cdi::Publication{path, missing ? Action::created : Action::replaced};
}

/// The spec with its owner in it, when its release has a place for that.
inline cdi::Spec owned(cdi::Spec spec, const Options& options) {
  if (can_record_owner(options)) {
    spec.annotations.insert_or_assign(std::string{cdi::owner_annotation}, spec_owner);
  }
  return spec;
}

/// Writes a spec file, in the place of one of ours; of another's only when that is asked for.
inline cdi::Result<cdi::Publication> publish(const Options& options, const PreparedSpec& prepared) {
  const auto directory = open_directory(options, options.output_dir, Missing::made);
  if (!directory) return directory.error();
  const auto path = directory->path_of(prepared.file_name);
  cdi::Error refusal{.code = cdi::Errc::conflict,
                     .message = "it may be another program's: give --force to replace it",
                     .position = {.file = path}};
  if (can_record_owner(options)) {
    const cdi::Publisher publisher{spec_owner, directory->number(), directory->path};
    auto done = publisher.write(prepared.file_name, prepared.spec);
    if (done || done.error().code != cdi::Errc::conflict) return done;
    refusal = std::move(done).error();
    refusal.message += ", or give --force to replace it";
  }
  const auto there = cdi::read_spec_file(path);
  if (!options.force && !may_replace(path, there)) return refusal;
  return write_over(options, *directory, prepared.file_name, there, owned(prepared.spec, options));
}

/// Whether a kind that was not found is not there: the PCI bus shows all that it has, and nothing
/// was passed over.
inline bool can_tell_outdated(const Survey& survey, const Options& options) {
  return survey.complete && !options.visible_only;
}

/// The names of the files of kinds that are to be handed out, or will be when they are ready.
inline std::set<std::string> files_that_stay(const Survey& survey, const PreparedSpecs& prepared,
                                             const Options& options) {
  std::set<std::string> names;
  for (const auto& one : prepared.specs) names.insert(one.file_name);
  for (const auto& found : survey.inventories) {
    const bool usable = found.usable_count() > 0;  // though its spec may not be
    if (usable || reason_not_ready(found, options.profiles())) names.insert(file_name(found.kind));
  }
  return names;
}

/// The names of files of ours that could not record that they are, but for those that stay.
inline cdi::Result<std::vector<std::string>> marked_files(const Directory& directory,
                                                          const std::set<std::string>& stays) {
  auto names = names_in(directory);
  if (!names) return names;
  std::erase_if(*names, [&](const std::string& name) {
    return stays.contains(name) || !is_marked(name, directory.number());
  });
  std::sort(names->begin(), names->end());
  return names;
}

/// The paths of files of ours for kinds of which the host has nothing to hand out any more.
inline cdi::Result<std::vector<std::string>> outdated_files(const Survey& survey,
                                                            const PreparedSpecs& prepared,
                                                            const Options& options) {
  if (!can_tell_outdated(survey, options)) return std::vector<std::string>{};
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory) return directory.error();
  const auto stays = files_that_stay(survey, prepared, options);
  const cdi::Publisher publisher{spec_owner, directory->number(), directory->path};
  const auto planned = publisher.prune(stays, cdi::DryRun::yes);
  if (!planned) return planned.error();
  auto paths = marked_files(*directory, stays);
  if (!paths) return paths;
  for (auto& path : *paths) path = directory->path_of(path);
  for (const auto& file : planned->files) {
    if (file.action == cdi::Publication::Action::removed) paths->push_back(file.path);
  }
  return paths;
}

}  // namespace prepare

#endif  // CDI_PREPARE_SPEC_FILE_HPP
