// `ReadOptions`: limits, quarantine, patience and policy of reading spec files.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_READ_OPTIONS_HPP
#define CDI_FILES_READ_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// How spec files are read, and what is asked of them.
struct ReadOptions {
  Limits limits{};              ///< of each file; over it is `Errc::limit`
  std::size_t files = 100'000;  ///< in one directory; one of more is refused, with `Errc::limit`
  /// Leaves a device out that is not valid, and keeps its siblings. Otherwise a file with one such
  /// device is refused whole, as the CDI document says. `LoadedSpec::quarantined` names it. A fault
  /// outside the devices, or in all of them, refuses the file all the same.
  bool quarantine_devices = false;
  /// Refuses files and directories that belong to neither root nor this user, or that others may
  /// write, with `Errc::refused`. Of a link, the file is judged that it leads to, not the directory
  /// of that file; of a file read on its own, no directory.
  bool refuse_writable = false;
  /// How long ago a file may have been changed to be read again when it is not valid: somebody may
  /// be writing it still. Waits this long at most, in all for the files of a call, and never more
  /// than an hour; not when 0.
  std::chrono::milliseconds patience{100};
  /// Goes on with what a file held before, when it has become one that cannot be read or is not
  /// valid, or its directory cannot be listed. Not what is gone, too large, or refused; nor a
  /// device that a valid file of the same directory provides. Only a `Cache` knows what was before.
  bool keep_last_good = true;
  /// Keeps the parsed text with its spec, so that `LoadedSpec::locate` knows the line and column of
  /// each member. Costs about twice the size of the file in memory.
  bool keep_places = false;
  /// Makes the digest of a file from the bytes that are parsed, such as `&cdi::sha256`; none when
  /// null. Called for valid files only, by whatever thread reads them.
  std::string (*digest)(std::string_view bytes) = nullptr;
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_READ_OPTIONS_HPP
