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

/// How spec files are read, and which are refused.
struct ReadOptions {
  Limits limits{};              ///< of each file; a file over them is rejected: `Errc::limit`
  std::size_t files = 100'000;  ///< a directory of more files is rejected: `Errc::limit`
  /// Skips an invalid device, which `LoadedSpec::quarantined` then names, and keeps the other
  /// devices of its file. Otherwise a file with an invalid device is rejected as a whole, as the
  /// CDI document says. An error outside the devices, or in all of them, always rejects the file.
  bool quarantine_devices = false;
  /// Refuses files and directories that belong to neither root nor the user of this process, or
  /// that other users may write: `Errc::refused`. Of a link, its target is checked, but not the
  /// directory of the target. `read_spec_file` checks the file only.
  bool refuse_writable = false;
  /// A file that is not valid and was changed less than this ago is read again, because another
  /// process may still write it. All files of a call together wait at most this long, and never
  /// more than an hour. 0 turns it off.
  std::chrono::milliseconds patience{100};
  /// Keeps the last valid contents of a file that has become invalid or unreadable, or whose
  /// directory cannot be listed. Not if the file was removed, if `refuse_writable` refuses it or
  /// its directory, or if the directory has too many files; and not for a device that a valid file
  /// of the same directory defines. Only a `Cache` knows earlier contents.
  bool keep_last_good = true;
  /// Keeps the parsed text with its spec, so that `LoadedSpec::locate` knows the line and column of
  /// each member. Costs about twice the size of the file in memory.
  bool keep_places = false;
  /// Computes the digest of a file from the parsed bytes, for example with SHA-256; null for
  /// none. Called for valid files only, by the thread that reads them.
  std::string (*digest)(std::string_view bytes) = nullptr;
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_READ_OPTIONS_HPP
