// Writes and removes one spec file of an owner, while other writers may do so too.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_OWNED_FILE_HPP
#define CDI_PUBLISH_OWNED_FILE_HPP

#include <cerrno>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/publish/ownership.hpp>
#include <cdi/publish/publication.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A spec file to write.
struct PlannedFile {
  std::string name{};
  std::string text{};
};

inline constexpr mode_t spec_file_mode = 0644;  // every runtime can read it

/// Returns the effect of writing `file` in place of the existing file.
inline Publication::Action action_for(const FoundFile& found, const PlannedFile& file) {
  if (found.ownership == Ownership::absent) return Publication::Action::created;
  const bool same =
      found.ownership == Ownership::own && found.text == file.text && found.mode == spec_file_mode;
  return same ? Publication::Action::unchanged : Publication::Action::replaced;
}

/// Writes a spec file, unless the file already has this text or belongs to another owner. The
/// directory is not synced.
inline Result<Publication::Action> write_owned_file(const PublishDir& dir, const PlannedFile& file,
                                                    DryRun dry_run, Replace replace = Replace::own,
                                                    Durable durable = Durable::yes) {
  const auto path = path_in(dir.path, file.name);
  std::optional<Temporary> temporary;
  static constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    auto found = find_owner_for(dir, file.name, replace, file.text);
    if (!found) return std::move(found).error();
    auto good = check_replaceable(*found, path, replace);
    if (!good) return std::move(good).error();
    const auto action = action_for(*found, file);
    if (action == Publication::Action::unchanged || dry_run == DryRun::yes) return action;
    if (!temporary) {
      temporary.emplace(dir.directory, file.name);
      auto filled = temporary->fill(path, file.text,
                                    {.mode = spec_file_mode, .sync = durable == Durable::yes});
      if (!filled) return std::move(filled).error();
    }
    const bool absent = found->ownership == Ownership::absent;
    if (absent ? temporary->create(file.name) : temporary->replace(file.name)) return action;
    // Another process has just created the file: the next round finds its owner.
    if (!absent || errno != EEXIST) {
      return temporary->directory_error(path, "cannot rename the new file");
    }
  }
  return Error{.code = Errc::conflict,
               .message = "other processes keep creating and removing the file",
               .advice = "choose another name",
               .position = {.file = path}};
}

/// Removes a spec file of this owner, or with `Replace::any` of any. The directory is not synced.
inline Result<Publication::Action> remove_owned_file(const PublishDir& dir, const std::string& name,
                                                     DryRun dry_run,
                                                     Replace replace = Replace::own) {
  const auto path = path_in(dir.path, name);
  const auto found = find_owner_for(dir, name, replace);
  if (!found) return found.error();
  if (auto good = check_removable(*found, path, replace); !good) return std::move(good).error();
  if (found->ownership == Ownership::absent) return Publication::Action::absent;
  if (dry_run == DryRun::yes || ::unlinkat(dir.directory, name.c_str(), 0) == 0) {
    return Publication::Action::removed;
  }
  if (errno == ENOENT) return Publication::Action::absent;
  return file_error(path, "cannot remove the file");
}

}  // namespace cdi::detail

#endif  // CDI_PUBLISH_OWNED_FILE_HPP
