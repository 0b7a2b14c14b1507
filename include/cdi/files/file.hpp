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

/// Reads one spec file and validates it. Links are followed; what is not a regular file is refused.
/// One that is not valid, and was changed a moment ago, is read again: see `ReadOptions::patience`.
///
/// Errors are those of `parse_spec`; `Errc::system` when it cannot be read, is no regular file, or
/// changes all the time; `Errc::refused` by `ReadOptions::refuse_writable`; `Errc::invalid` when
/// the name does not end in `.json` or `.yaml`.
Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options = {});

/// Writes a spec to a file ending in `.json` or `.yaml`, crash-safe as `replace_file`, with mode
/// 0644 whatever the umask: every runtime must be able to read it. The directory must exist. An
/// invalid spec is refused and nothing is written. Errors are those of `write_spec` and of
/// `replace_file`; `Errc::invalid` when the path ends otherwise.
Result<void> write_spec_file(const std::string& path, const Spec& spec);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/impl/file.hpp>
#endif

#endif  // CDI_FILES_FILE_HPP
