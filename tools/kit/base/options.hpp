// Checks of options, and repeated options, for all tools.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tools {

/// Rejects an empty value; the check for options that take a path or a name.
inline std::string not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

/// Adds an option that takes one value and may be repeated.
inline CLI::Option* add_repeated(CLI::App& app, const std::string& name,
                                 std::vector<std::string>& values, const std::string& help) {
  return app.add_option(name, values, help)->expected(1)->allow_extra_args(false)->take_all();
}

}  // namespace tools
