// `ReadOptions`: limits, quarantine, retry window and policy for reading spec files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_READ_OPTIONS_HPP
#define CDI_FILES_READ_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// How spec files are read, and which files are rejected.
struct ReadOptions {
  Limits limits{};              ///< for each file; a file over a limit is rejected: `Errc::limit`
  std::size_t files = 100'000;  ///< a directory with more files is rejected: `Errc::limit`
  /// Skips an invalid device, lists it in `LoadedSpec::quarantined` and keeps the file's other
  /// devices. Otherwise, one invalid device rejects the whole file, as the CDI document says. An
  /// error outside the devices, or in all of them, always rejects the file.
  bool quarantine_devices = false;
  /// Rejects, with `Errc::denied`, files and directories that users other than root and this
  /// process's user own or may write to. If the path is a link, its target is checked, but not the
  /// target's directory. `read_spec_file` checks only the file.
  bool reject_writable = false;
  /// An invalid file that changed within this time is read again, because another process may still
  /// be writing it. All files of a call together wait at most this long, and never more than an
  /// hour. Zero disables waiting.
  std::chrono::milliseconds retry_window{100};
  /// Keeps the last valid contents of a file that has become invalid or unreadable, or whose
  /// directory cannot be listed. Contents are dropped if the file or the target of a link was
  /// removed, if `reject_writable` rejects it or its directory, or if the directory has too many
  /// files. A device is dropped if a valid file in the same directory defines it. Only a `Cache`
  /// knows earlier contents.
  bool keep_last_good = true;
  /// Computes a digest, for example SHA-256, from the parsed bytes of a file; null disables
  /// digests. Called only for valid files, by the thread that reads them.
  std::string (*digest)(std::string_view bytes) = nullptr;
};

}  // namespace cdi

#endif  // CDI_FILES_READ_OPTIONS_HPP
