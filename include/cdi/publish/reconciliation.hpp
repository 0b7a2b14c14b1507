// Plans which spec files of an owner to write and remove, and carries out the plan.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_RECONCILIATION_HPP
#define CDI_PUBLISH_RECONCILIATION_HPP

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/publish/owned_file.hpp>
#include <cdi/publish/ownership.hpp>
#include <cdi/publish/publication.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The names in a directory that matter to a publisher, sorted by bytes.
struct PublisherNames {
  std::vector<std::string> specs{};
  std::vector<std::string> temporaries{};
};

inline Result<PublisherNames> list_names(const PublishDir& dir) {
  PublisherNames names;
  if (dir.directory < 0) return names;
  const auto wanted = [](std::string_view name) {
    return format_of(name) || is_temporary_name(name);
  };
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  auto listing = detail::list_directory(dir.directory, dir.path, wanted, no_limit);
  if (!listing) return std::move(listing).error();
  for (auto& entry : listing->entries) {
    auto& list = format_of(entry.name) ? names.specs : names.temporaries;
    list.push_back(std::move(entry.name));
  }
  return names;
}

/// The outstanding changes to a directory, and what is known about the other files.
struct Reconciliation {
  Reconciled outcome{};  // the files that stay, and the unreadable ones
  std::vector<const PlannedFile*> writes{};
  std::vector<std::string> removals{};
  std::vector<std::string> temporaries{};

  bool has_changes() const { return !writes.empty() || !removals.empty(); }
};

inline Result<void> add_write(const PublishDir& dir, const PlannedFile& file,
                              Reconciliation& plan) {
  const auto path = path_in(dir.path, file.name);
  const auto found = find_owner(dir, file.name, file.text);
  if (!found) return found.error();
  if (auto good = check_replaceable(*found, path); !good) return good;
  if (action_for(*found, file) == Publication::Action::unchanged) {
    plan.outcome.files.push_back({path, Publication::Action::unchanged});
  } else {
    plan.writes.push_back(&file);
  }
  return {};
}

/// Plans how to change a directory to `files` and the existing files in `keep`. `files` must
/// outlive the plan.
inline Result<Reconciliation> plan_reconciliation(const PublishDir& dir,
                                                  const std::vector<PlannedFile>& files,
                                                  const std::set<std::string>& keep) {
  auto names = list_names(dir);
  if (!names) return std::move(names).error();
  Reconciliation plan{.temporaries = std::move(names->temporaries)};
  std::set<std::string_view> expected;
  for (const auto& file : files) {
    expected.insert(file.name);
    if (auto good = add_write(dir, file, plan); !good) return std::move(good).error();
  }
  for (const auto& name : names->specs) {
    if (expected.contains(name)) continue;
    const auto own = is_own_file(dir, name);
    if (!own) {
      plan.outcome.unreadable.push_back(own.error());
    } else if (*own && keep.contains(name)) {
      plan.outcome.files.push_back({path_in(dir.path, name), Publication::Action::unchanged});
    } else if (*own) {
      plan.removals.push_back(name);
    }
  }
  return plan;
}

/// Removes the temporary files of killed writers.
inline void remove_temporaries(const PublishDir& dir, Reconciliation& plan, DryRun dry_run) {
  for (const auto& name : plan.temporaries) {
    const auto abandoned = detail::open_abandoned(dir.directory, name);
    if (!abandoned) continue;
    const auto path = path_in(dir.path, name);
    if (dry_run == DryRun::yes || ::unlinkat(dir.directory, name.c_str(), 0) == 0) {
      plan.outcome.temporaries.push_back(path);
    } else {
      plan.outcome.errors.push_back(file_error(path, "cannot remove the file"));
    }
  }
}

/// Makes the planned changes. A failure is recorded, and does not stop the other changes. All
/// writes precede the first removal, so that a kill in between leaves too many files rather than
/// too few. If a file cannot be written, as on a full disk, no file is removed: the new file may
/// replace an old one under another name.
inline Reconciled carry_out(Reconciliation plan, const PublishDir& dir, DryRun dry_run) {
  auto& outcome = plan.outcome;
  const auto record = [&](const std::string& name, const Result<Publication::Action>& action) {
    if (action) {
      outcome.files.push_back({path_in(dir.path, name), *action});
    } else {
      outcome.errors.push_back(action.error());
    }
  };
  for (const auto* file : plan.writes) record(file->name, write_owned_file(dir, *file, dry_run));
  if (!outcome.errors.empty()) plan.removals.clear();
  for (const auto& name : plan.removals) record(name, remove_owned_file(dir, name, dry_run));
  remove_temporaries(dir, plan, dry_run);
  if (plan.has_changes() && dry_run == DryRun::no) {
    auto synced = cdi::sync_directory(dir.directory, dir.path);
    if (!synced) outcome.errors.push_back(std::move(synced).error());
  }
  std::sort(outcome.files.begin(), outcome.files.end(),
            [](const Publication& a, const Publication& b) { return a.path < b.path; });
  return std::move(outcome);
}

}  // namespace cdi::detail

#endif  // CDI_PUBLISH_RECONCILIATION_HPP
