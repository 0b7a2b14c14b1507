// The policy from the command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cdi/policy.hpp>

#include <CLI/CLI.hpp>

/// A policy file, and the source of the device names.
struct PolicyOptions {
  std::string file{};
  std::string source{"commandLine"};

  /// The origin that `source` selects; the command line has already been checked.
  cdi::RequestOrigin origin() const {
    for (std::size_t i = 0; i < cdi::request_origin_names.size(); ++i) {
      if (cdi::request_origin_names[i] == source) return static_cast<cdi::RequestOrigin>(i);
    }
    return cdi::RequestOrigin::command_line;
  }
};

/// Adds the option `--source`.
inline CLI::Option* add_source(CLI::App& app, PolicyOptions& policy) {
  return app.add_option("--source", policy.source, "Where the names come from, for the policy")
      ->type_name("SOURCE")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>{cdi::request_origin_names.begin(),
                                                     cdi::request_origin_names.end()}));
}
