// `conversion_advice`: what to do about a spec file that an engine rejects.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include <cdi/registry/loaded_spec.hpp>

#include "engine_versions.hpp"

namespace tools {

/// Returns advice, for people, about a file that an engine rejects or that causes `text_warnings`.
/// First, the owner of the file should write the file again. Second comes the command that replaces
/// the file with a conversion for the engine, with the losses, or the reason why no conversion is
/// possible; a shell runs the command as printed. Third comes an engine update, if a newer version
/// reads the file or a future version may. `owner_command`, if not empty, is the command with which
/// the owner's program writes the file again for the engine; this command replaces the conversion.
/// The text does not end with a full stop.
std::string conversion_advice(const VersionedEngine& engine, const cdi::LoadedSpec& loaded,
                              std::string_view owner_command = {});

}  // namespace tools
