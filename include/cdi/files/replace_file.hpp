// Replaces a file so that a crash leaves the old one or the new one.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_REPLACE_FILE_HPP
#define CDI_FILES_REPLACE_FILE_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/temporary.hpp>  // IWYU pragma: export
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Replaces the text of a file, or creates the file, so that a crash at any moment leaves the old
/// text or the new one, whole: a temporary file in the same directory gets its attributes, is
/// written and synced, and renamed over the target, and the directory is synced. A link at `path`
/// is replaced, not followed. A writer that is killed may leave its temporary file, which
/// `is_temporary_name` recognises, and which a `Publisher` and `cdi gc` remove.
///
/// `Errc::system` when a system call fails or the path names no file: then the file is unchanged,
/// unless only the sync of its directory failed.
Result<void> replace_file(const std::string& path, std::string_view text,
                          const FileAttributes& attributes = {});

/// The same for the file `name` of an open directory, whatever the path of the directory leads to
/// now. `path` is for messages.
Result<void> replace_file_at(int directory, const std::string& name, std::string_view text,
                             std::string_view path, const FileAttributes& attributes = {});

/// The same for a file that was read before, and had the signature `expected` then. The file keeps
/// its mode, owner and group. `Errc::conflict` when it was changed or replaced after it was read:
/// then it is left alone. A change in the instant before the rename can go unnoticed.
Result<void> rewrite_file_at(int directory, const std::string& name, std::string_view text,
                             std::string_view path, const Signature& expected);

/// Syncs an open directory, so that files created, renamed or removed in it stay so after a crash
/// of the system. `path` is for messages. Success on file systems that cannot sync directories.
Result<void> sync_directory(int directory, std::string_view path);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/replace_file.inl>
#endif

#endif  // CDI_FILES_REPLACE_FILE_HPP
