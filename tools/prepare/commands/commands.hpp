// The commands of `cdi-prepare`, each in a file with its name.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "command.hpp"

namespace prepare {

extern const Command check_command;
extern const Command configure_command;
extern const Command detect_command;
extern const Command diff_command;  // in check.cpp
extern const Command doctor_command;
extern const Command files_command;
extern const Command list_command;
extern const Command prepare_command;
extern const Command record_command;
extern const Command slices_command;
extern const Command unprepare_command;
extern const Command watch_command;
extern const Command write_command;

}  // namespace prepare
