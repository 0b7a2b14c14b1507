// Where the files and nodes of a driver are on a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/base/shell_word.hpp>
#include <cdi/result.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"

// A driver may be installed in a directory of its own instead of /: by the container of NVIDIA's
// GPU operator in /run/nvidia/driver, for example.

namespace prepare {

/// Where the files of a driver are on a host.
struct DriverPlace {
  std::optional<tools::HostTree> own_tree{};  // of the driver root; nullopt: the host's
  std::string root{};                         // the driver root on the host; empty: /
  std::vector<std::string> library_dirs{};    // below it; searched before the usual ones

  /// The tree in which the paths of driver files are looked up.
  const tools::HostTree& tree(const tools::HostTree& host) const {
    return own_tree ? *own_tree : host;
  }
};

namespace detail {

/// An error about a directory in an option.
inline cdi::Error bad_directory(std::string_view option, const std::string& path, int number) {
  auto error = tools::path_error(path, number);
  error.message.insert(0, std::string{"cannot read "}.append(option).append(" "));
  return error;
}

/// Checks that an option names a directory.
inline cdi::Result<void> check_directory(const tools::HostTree& tree, std::string_view option,
                                         const std::string& path) {
  const auto mode = tree.mode(path);
  if (!mode) return bad_directory(option, path, mode.error().system);
  return S_ISDIR(*mode) ? cdi::Result<void>{} : bad_directory(option, path, ENOTDIR);
}

}  // namespace detail

/// The arguments that make another command find the same drivers and devices.
inline std::vector<std::string> place_arguments(const SurveyOptions& options) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) out.push_back(std::string{option} + " " + cdi::shell_word(value));
  };
  add("--driver-root", options.driver_root);
  add("--dev-root", options.dev_root);
  for (const auto& directory : options.library_dirs) add("--library-search-path", directory);
  for (const auto& file : options.vendor_files) add("--vendor-file", file);
  return out;
}

/// Opens the places of the options. Fails if a directory is missing.
inline cdi::Result<DriverPlace> open_driver_place(const tools::HostTree& host,
                                                  const SurveyOptions& options) {
  DriverPlace out{.root = options.driver_root, .library_dirs = options.library_dirs};
  if (!out.root.empty()) {
    if (auto good = detail::check_directory(host, "--driver-root", out.root); !good) {
      return std::move(good).error();
    }
    auto tree = tools::HostTree::open(host.root() == "/" ? out.root : path_here(host, out.root),
                                      host.log(), out.root);
    if (!tree) return std::move(tree).error();
    out.own_tree.emplace(std::move(*tree));
  }
  for (const auto& directory : out.library_dirs) {
    auto good = detail::check_directory(out.tree(host), "--library-search-path", directory);
    if (!good) return std::move(good).error();
  }
  return out;
}

/// The directory whose `dev` has the nodes: from the option, or the driver root if it has nodes of
/// the driver, as in NVIDIA's driver container. Empty for /.
inline cdi::Result<std::string> dev_root_of(const tools::HostTree& host,
                                            const SurveyOptions& options) {
  if (options.dev_root.empty()) {
    const bool has_nodes = !options.driver_root.empty() &&
                           host.node(options.driver_root + "/dev/nvidiactl").has_value();
    return has_nodes ? options.driver_root : std::string{};
  }
  if (options.dev_root == "/") return std::string{};
  if (auto good = detail::check_directory(host, "--dev-root", options.dev_root); !good) {
    return std::move(good).error();
  }
  return options.dev_root;
}

}  // namespace prepare
