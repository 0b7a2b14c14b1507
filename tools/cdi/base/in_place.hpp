// Reads a file and replaces it, in a directory that other users may change at the same time.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>

/// A file that is read and then replaced, and its directory.
struct FileInPlace {
  std::string path{};             // as given, for messages
  cdi::Descriptor directory{-1};  // stays the same, even if the path changes
  std::string name{};             // in the directory; not a link
  std::string text{};
  cdi::Signature signature{};  // when the file was read
  cdi::Descriptor opened{-1};  // while it is open, no newer file has this signature
};

/// What to do about a missing path.
enum class IfMissing : std::uint8_t { fail, make_directories };

/// Opens a directory to write in it. Links in the path are followed if root or the user of this
/// process owns them: other users could redirect the writer. Creates a missing directory with its
/// parents, or returns an invalid descriptor.
cdi::Result<cdi::Descriptor> open_to_write(const std::string& path, IfMissing if_missing);

/// Reads a file that is to be replaced. Links in the path are followed if root or the user of this
/// process owns them; the file found now is the file that will be replaced. `Errc::denied` if
/// `reject_writable` is set and other users may write to the file.
cdi::Result<FileInPlace> read_in_place(const std::string& path, bool reject_writable = false);

/// Replaces a file that was read, atomically and crash-safe, and keeps its mode, owner and group.
/// Fails if the file was changed or replaced after it was read. Removes temporary files that killed
/// writers of this file left behind.
cdi::Result<void> replace_in_place(const FileInPlace& file, std::string_view text);

/// Replaces a file as `replace_in_place` does, and keeps the old text in a backup next to the file.
/// Returns the path of the backup. If the file is not replaced, no backup is left.
cdi::Result<std::string> replace_with_backup(const FileInPlace& file, std::string_view text);
