// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILE_HPP
#define CDI_FILE_HPP

#include <string>

#include <cdi/loaded_spec.hpp>
#include <cdi/read_options.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

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

}  // namespace cdi::inline CDI_ABI

#if CDI_BODIES
#include <cdi/impl/file.hpp>
#endif

#endif  // CDI_FILE_HPP
