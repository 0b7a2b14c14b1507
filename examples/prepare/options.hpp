// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_OPTIONS_HPP
#define CDI_PREPARE_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace prepare {

/// What the command line asks for. Names are as there.
struct Options {
  std::string root = "/";
  std::string output = "text";  // or "json"

  // What is looked for, and how long.
  std::size_t expect = 0;
  double wait = 0;  // seconds
  bool visible_only = false;
  bool nvml = false;
  std::string nvml_library{};  // empty: the one below the root

  // What specs hold, and where they go.
  std::string profile = "all";
  std::string hooks = "none";
  std::string node_numbers = "auto";
  bool ld_library_path = false;
  std::optional<cdi::Release> max_version{};
  std::string output_dir = "/var/run/cdi";
  bool dry_run = false;
  bool force = false;

  // Claims.
  std::string state_dir = "/var/lib/cdi-prepare";
  std::string claim_kind = "cdi-prepare.local/claim";
  double lock_timeout = 10;  // seconds
  std::string claim{};
  std::string claim_namespace{};
  std::string claim_name{};
  std::vector<std::string> devices{};

  double interval = 10;                  // seconds between two looks of `watch`
  std::vector<std::string> spec_dirs{};  // that `doctor` looks at

  bool json() const { return output == "json"; }

  /// Whether runtimes are to ask the host for the numbers of nodes: specs in /etc are there still
  /// when another boot has given other numbers.
  bool ask_host() const {
    if (node_numbers != "auto") return node_numbers == "asked";
    return output_dir == "/etc" || output_dir.starts_with("/etc/");
  }
};

}  // namespace prepare

#endif  // CDI_PREPARE_OPTIONS_HPP
