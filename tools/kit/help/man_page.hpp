// The man page of a tool, from its command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "manual.hpp"
#include <CLI/CLI.hpp>

namespace tools {

/// The man page of a tool in roff. `date`, such as 2026-11-25, is the date of its text.
std::string man_page(const CLI::App& tool, const Manual& manual, std::string_view date);

}  // namespace tools
