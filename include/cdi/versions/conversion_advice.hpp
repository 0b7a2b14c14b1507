// `conversion_advice`: what to do about a spec file that an engine refuses.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_CONVERSION_ADVICE_HPP
#define CDI_VERSIONS_CONVERSION_ADVICE_HPP

#include <string>
#include <string_view>

#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>
#include <cdi/versions/engine_releases.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What to do about a file that an engine refuses, or that `text_warnings` has warnings of: first,
/// that the owner of the file writes it again; the command that replaces it with a conversion for
/// the engine, with what it loses, or why it cannot be converted; and an update of the engine, if a
/// newer version reads the file, or may read it because its release is newer than the known
/// versions. For people, without a full stop; a shell runs the command as it is printed.
/// `owner_command` is the command by which the program of the owner writes the file again for the
/// engine; it takes the place of the conversion. Empty when it is not known.
std::string conversion_advice(const VersionedEngine& engine, const LoadedSpec& loaded,
                              std::string_view owner_command = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/conversion_advice.inl>
#endif

#endif  // CDI_VERSIONS_CONVERSION_ADVICE_HPP
