// `cdi write`: publishes a spec in a spec directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_WRITE_HPP
#define CDI_TOOLS_CDI_COMMANDS_WRITE_HPP

#include "../base/command.hpp"

/// The owner of files from `cdi write`, unless `--owner` names another one.
inline constexpr const char* write_owner = "cdi";

#endif  // CDI_TOOLS_CDI_COMMANDS_WRITE_HPP
