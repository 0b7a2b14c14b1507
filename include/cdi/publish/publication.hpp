// What a `Publisher` may do with a file, and what it did.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_PUBLICATION_HPP
#define CDI_PUBLISH_PUBLICATION_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/owner.hpp>  // IWYU pragma: export
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Whether to change files, or only to report the changes.
enum class DryRun : std::uint8_t {
  no,  ///< change files
  yes  ///< only report: nothing is written, created or removed
};

/// Which existing files a publisher may replace, or remove.
enum class Replace : std::uint8_t {
  own,  ///< files of the same owner, and files that are not specs
  any   ///< also files of other owners, and specs without an owner
};

/// Whether a written file survives a crash of the system.
enum class Durable : std::uint8_t {
  yes,  ///< file and directory are synced
  no    ///< the file may then be empty: for specs that are made again after each boot
};

/// A publisher's file, and what was done with it, or would be done in a dry run.
struct Publication {
  /// What was done with a file.
  enum class Action : std::uint8_t {
    created,    ///< a new file was written
    replaced,   ///< the old file had other bytes or another mode, or was a link or not a spec
    unchanged,  ///< the file already had these bytes, or is a file to keep
    removed,    ///< a file of this owner was removed
    absent,     ///< no such file existed, and nothing was removed
  };

  std::string path{};                 ///< the directory and name
  Action action = Action::unchanged;  ///< what was done

  friend bool operator==(const Publication&, const Publication&) = default;
};

/// Returns the name of an action: `created`, `replaced`, `unchanged`, `removed` or `absent`.
constexpr std::string_view to_string(Publication::Action action) {
  switch (action) {
    case Publication::Action::created: return "created";
    case Publication::Action::replaced: return "replaced";
    case Publication::Action::unchanged: return "unchanged";
    case Publication::Action::removed: return "removed";
    case Publication::Action::absent: break;
  }
  return "absent";
}

/// What a publisher did with the files in a directory, or would do in a dry run.
struct Reconciled {
  std::vector<Publication> files{};        ///< the expected, kept and removed files, sorted by name
  std::vector<std::string> temporaries{};  ///< removed temporary files of killed writers
  /// Errors that occurred after the first change. Each file named in an error is unchanged. An
  /// error that names the directory means that it could not be synced.
  std::vector<Error> errors{};
  std::vector<Error> unreadable{};  ///< errors for untouched files whose owner cannot be read
};

}  // namespace cdi

#endif  // CDI_PUBLISH_PUBLICATION_HPP
