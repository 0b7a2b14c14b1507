// Replaces a file so that a crash leaves either the old file or the new one.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_REPLACE_FILE_HPP
#define CDI_FILES_REPLACE_FILE_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/temporary.hpp>  // IWYU pragma: export
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Replaces a file's text, or creates the file, so that a crash at any moment leaves either the
/// complete old text or the complete new text. A temporary file in the same directory receives the
/// attributes and the text, is synced and is renamed over the target; then the directory is synced.
/// A link at `path` is replaced, not followed. A killed writer may leave its temporary file, which
/// `is_temporary_name` recognises, and which a `Publisher` and `cdi gc` remove.
///
/// Fails with `Errc::system` if a system call fails or the path does not name a file. The file is
/// then unchanged, unless only the sync of its directory failed.
Result<void> replace_file(const std::string& path, std::string_view text,
                          const FileAttributes& attributes = {});

/// Like `replace_file`, but replaces the file `name` in an open directory, wherever the directory's
/// path leads now. `path` appears in messages.
Result<void> replace_file_at(int directory, const std::string& name, std::string_view text,
                             std::string_view path, const FileAttributes& attributes = {});

/// Like `replace_file_at`, but keeps the mode, owner and group of a file that was read with the
/// signature `expected`. If the file has since been changed or replaced, or if another process
/// locks it (flock(2)), as this function does, leaves it alone and fails with `Errc::conflict`. The
/// file that was read must still be open, as a `TextFile` keeps it: otherwise, a newer file can
/// have the same signature. A change by a program without the lock in the instant before the rename
/// can go unnoticed. `FileAttributes` describes `sync`.
Result<void> rewrite_file_at(int directory, const std::string& name, std::string_view text,
                             std::string_view path, const Signature& expected, bool sync = true);

/// Syncs an open directory, so that a system crash cannot undo the creation, renaming or removal of
/// its files. `path` appears in messages. Succeeds on file systems that cannot sync directories.
Result<void> sync_directory(int directory, std::string_view path);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/replace_file.inl>
#endif

#endif  // CDI_FILES_REPLACE_FILE_HPP
