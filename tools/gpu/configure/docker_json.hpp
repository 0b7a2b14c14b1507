// Changes Docker's daemon.json.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "file_edit.hpp"

// JSON has no comments, so a copy keeps the old file, and a record lists what was set: later
// changes by a person must stay.

namespace prepare::configure {

/// The settings that Docker needs; nullopt for settings that are right.
struct DockerSettings {
  bool switch_on = false;
  std::optional<std::vector<std::string>> dirs{};
};

/// The text of daemon.json with the settings; other members keep their order.
cdi::Result<std::string> with_docker_settings(const FileEdit& file, const DockerSettings& wanted);

/// The text of the record of what was set, by earlier changes and this one.
cdi::Result<std::string> record_of(const FileEdit& record, const DockerSettings& wanted);

/// Copies what a person has changed since we set it, so that a later `undo` restores that and not
/// an older value. Members that will not be set now stay as they are.
cdi::Result<void> keep_later_values(FileEdit& copy, const FileEdit& file, const FileEdit& record,
                                    const DockerSettings& wanted);

/// Undoes what the record lists, where it is still set. `old_text` is the file before. If nothing
/// else has changed since then, the result is the old file, byte for byte, or no file if there was
/// none.
cdi::Result<void> take_docker_settings_back(FileEdit& file, const Content& old_text,
                                            const FileEdit& record);

}  // namespace prepare::configure
