// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_BASE_OPTIONS_HPP
#define CDI_PREPARE_BASE_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <cdi/model/fields.hpp>

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
  std::vector<std::string> engines{};         // that specs are for; none: those installed
  std::optional<cdi::Release> max_version{};  // of specs
  std::string oldest_engine{};                // whose newest release that is; empty: it was given
  std::string output_dir{};                   // empty: /var/run/cdi below the root
  bool dry_run = false;
  bool force = false;

  // Claims.
  std::string state_dir{};  // empty: /var/lib/cdi-prepare below the root
  std::string claim_kind = "cdi-prepare.local/claim";
  double lock_timeout = 10;  // seconds
  std::string claim{};
  std::string claim_namespace{};
  std::string claim_name{};
  std::vector<std::string> devices{};

  double interval = 10;                  // seconds between two looks of `watch`
  std::vector<std::string> spec_dirs{};  // that `doctor` looks at

  /// The newest release that is asked for, not that of the engines installed.
  std::optional<cdi::Release> given_release() const {
    const bool given = !engines.empty() || oldest_engine.empty();
    return given ? max_version : std::nullopt;
  }

  bool json() const { return output == "json"; }

  /// The path here of what is `path` on the host that is looked at.
  std::string below_root(const std::string& path) const { return root == "/" ? path : root + path; }

  /// The path on that host of what is `path` here; none when it is not below the root.
  std::optional<std::string> place_on_host(const std::string& path) const {
    if (root == "/") return path;
    if (!path.starts_with(root + "/")) return std::nullopt;
    return path.substr(root.size());
  }

  /// Whether runtimes are to ask the host for the numbers of nodes: specs in /etc, be it through a
  /// link, are there still when another boot has given other numbers.
  bool ask_host() const {
    if (node_numbers != "auto") return node_numbers == "asked";
    std::error_code ignored;
    const auto real = std::filesystem::weakly_canonical(output_dir, ignored).string();
    for (const auto& dir : {real, output_dir}) {
      const auto place = place_on_host(dir).value_or(dir);
      if (place == "/etc" || place.starts_with("/etc/")) return true;
    }
    return false;
  }
};

}  // namespace prepare

#endif  // CDI_PREPARE_BASE_OPTIONS_HPP
