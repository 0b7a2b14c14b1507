// Reads one spec file, and writes one so that a crash leaves either the old file or the new one.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_FILE_HPP
#define CDI_FILES_FILE_HPP

#include <string>

#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Reads one spec file and validates it. Links are followed, but the target must be a regular file.
/// An invalid file that has just changed is read again: see `ReadOptions::retry_window`.
///
/// Fails with the errors of `parse_spec`; with `Errc::system` if the file cannot be read, is not a
/// regular file or keeps changing; with `Errc::denied` if `ReadOptions::reject_writable` applies;
/// and with `Errc::invalid` if the name ends in neither `.json` nor `.yaml`.
Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options = {});

/// Writes a spec to a file whose name ends in `.json` or `.yaml`. Writing is crash-safe, as in
/// `replace_file`. The mode is 0644, whatever the umask, so that every runtime can read the file.
/// The directory must exist. An invalid spec is not written. Fails with the errors of `write_spec`
/// and `replace_file`, and with `Errc::invalid` for any other file name.
Result<void> write_spec_file(const std::string& path, const Spec& spec);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/file.inl>
#endif

#endif  // CDI_FILES_FILE_HPP
