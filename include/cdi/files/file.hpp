// Reads one spec file, and writes one so that a crash leaves the old file or the new one.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_FILE_HPP
#define CDI_FILES_FILE_HPP

#include <string>

#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Reads one spec file and validates it. Links are followed; only regular files are read. A file
/// that is not valid and has just been changed is read again: see `ReadOptions::patience`.
///
/// Errors are those of `parse_spec`; `Errc::system` if the file cannot be read, is not a regular
/// file, or keeps changing; `Errc::refused` by `ReadOptions::refuse_writable`; `Errc::invalid` if
/// the name does not end in `.json` or `.yaml`.
Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options = {});

/// Writes a spec to a file whose name ends in `.json` or `.yaml`, crash-safe like `replace_file`,
/// with mode 0644 whatever the umask, because every runtime must be able to read it. The directory
/// must exist. An invalid spec is not written. Errors are those of `write_spec` and of
/// `replace_file`; `Errc::invalid` for another name.
Result<void> write_spec_file(const std::string& path, const Spec& spec);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/file.inl>
#endif

#endif  // CDI_FILES_FILE_HPP
