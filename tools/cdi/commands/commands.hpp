// The commands of `cdi`, each in a file with its name.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../base/command.hpp"

extern const Command args_command;
extern const Command
    classes_command;  // in list.cpp, like those for devices, vendors, specs and dirs
extern const Command convert_command;
extern const Command devices_command;
extern const Command dirs_command;
extern const Command gc_command;
extern const Command inject_command;
extern const Command monitor_command;
extern const Command names_command;
extern const Command new_command;
extern const Command policy_command;
extern const Command remove_command;
extern const Command resolve_command;
extern const Command run_command;
extern const Command schema_command;  // in about.cpp
extern const Command show_command;
extern const Command specs_command;
extern const Command transform_command;
extern const Command validate_command;
extern const Command vendors_command;
extern const Command version_command;  // in about.cpp
extern const Command wait_command;
extern const Command why_command;
extern const Command write_command;
