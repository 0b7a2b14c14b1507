// Prints help and versions, and explains faults of a command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <span>
#include <string>
#include <string_view>

#include <cdi/registry/nearest_names.hpp>

#include <CLI/CLI.hpp>

namespace tools {

/// Whether the command line requests help or the version, which CLI11 reports by throwing, too.
bool is_answer(const CLI::ParseError& thrown);

/// The requested help or version text.
std::string usage_answer(const CLI::App& app, const CLI::ParseError& thrown);

/// The format that a command line selects with -o, even if other words are invalid; empty if it
/// selects none.
std::string_view format_in(std::span<const char* const> words);

/// The fault in a command line, and the remedy if one is known. The place of a wrong value is its
/// option.
cdi::Error usage_fault(const CLI::App& app, const CLI::ParseError& thrown);

/// The same; without another remedy, the help.
cdi::Error usage_error(const CLI::App& app, const CLI::ParseError& thrown);

}  // namespace tools
