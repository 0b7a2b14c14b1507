// What a `Publisher` may do with a file, and what it did.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PUBLISH_PUBLICATION_HPP
#define CDI_PUBLISH_PUBLICATION_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/owner.hpp>  // IWYU pragma: export
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Whether to change files, or only to report what would be changed.
enum class DryRun : std::uint8_t {
  no,  ///< change files
  yes  ///< only report: nothing is written, created or removed
};

/// Which files a new one may replace.
enum class Replace : std::uint8_t {
  own,  ///< files of the same owner, and files that are not specs
  any   ///< also files of other owners, and specs without owner
};

/// A file of a publisher, and what was done with it; in a dry run, what would be done.
struct Publication {
  /// What was done with a file.
  enum class Action : std::uint8_t {
    created,    ///< the file did not exist, and was written
    replaced,   ///< it had other bytes or another mode, or was a link or not a spec
    unchanged,  ///< it had these bytes already, and was not written; or it is a file to keep
    removed,    ///< it was a file of this owner, and was removed
    absent,     ///< it did not exist, and nothing was removed
  };

  std::string path{};                 ///< directory and name
  Action action = Action::unchanged;  ///< what was done

  friend bool operator==(const Publication&, const Publication&) = default;
};

/// The name of an action: `created`, `replaced`, `unchanged`, `removed` or `absent`.
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

/// What a publisher did with the files of a directory; in a dry run, what it would do.
struct Reconciled {
  std::vector<Publication> files{};        ///< the expected, kept and removed files, sorted by name
  std::vector<std::string> temporaries{};  ///< removed temporary files of killed writers, by path
  /// Errors after the first change; each file named there is unchanged. An error that names the
  /// directory means that it cannot be synced.
  std::vector<Error> errors{};
  std::vector<Error> unreadable{};  ///< files left alone, because their owner cannot be read
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_PUBLISH_PUBLICATION_HPP
