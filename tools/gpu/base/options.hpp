// Options of several commands.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <linux/magic.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/vfs.h>
#include <system_error>
#include <vector>

#include <cdi/minimum_version.hpp>

#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../../kit/host/read_log.hpp"

namespace prepare {

/// The host of a command.
struct HostOptions {
  std::string root = "/";
  std::shared_ptr<tools::ReadLog> log{};  // records what is read; may be null

  /// Converts a path on the host to a path here, under the root.
  std::string below_root(const std::string& path) const { return root == "/" ? path : root + path; }

  /// Converts a path here to a path on the host; nullopt if it is not under the root.
  std::optional<std::string> place_on_host(const std::string& path) const {
    if (root == "/") return path;
    if (!path.starts_with(root + "/")) return std::nullopt;
    return path.substr(root.size());
  }
};

/// Whether missing device nodes are made before the host is surveyed.
enum class MakeNodes : std::uint8_t {
  no,
  shown,  // only reported
  yes,
};

/// The GPUs of the host that are found and expected, and how long to wait for them.
struct SurveyOptions : HostOptions, tools::WriteOptions {
  std::size_t expect = 0;
  double wait = 0;             // seconds
  std::string nvml_library{};  // empty: the library under the root
  std::map<std::string, std::vector<std::string>> devices_of{};  // `devices`, by kind
  MakeNodes make_nodes = MakeNodes::no;
  std::vector<std::string> host_vendor_files{};  // as `vendor_files`, but paths on the host
};

/// The options that several commands have: the content of specs, and their directory.
struct Options : SurveyOptions {
  std::string output = "text";         // or "json"
  std::vector<std::string> engines{};  // that will read the specs; empty: installed engines
  std::optional<cdi::SpecVersion> max_version{};  // of specs
  std::string oldest_engine{};                    // the source of `max_version`; empty: the option
  std::string output_dir{};                       // empty: /var/run/cdi under the root
  bool output_named_in_etc = false;               // of the host, even if links lead elsewhere
  bool force = false;
  std::string settings{};                             // the settings file here; empty: the host's
  bool no_settings = false;                           // no settings file is read
  bool keep_options = false;                          // use what spec files record
  std::map<std::string, tools::WriteOptions> kept{};  // what they record, by kind
  std::set<std::string> given{};  // the long names of options from the command line or a settings
                                  // file, without dashes

  /// The newest CDI version on the command line, whatever the installed engines read.
  std::optional<cdi::SpecVersion> given_version() const {
    const bool is_given = !engines.empty() || oldest_engine.empty();
    return is_given ? max_version : std::nullopt;
  }

  bool json() const { return output == "json"; }

  /// Whether specs leave out device numbers, so that runtimes query the host. Those that survive a
  /// reboot do, because the numbers may then differ. Outside the root of another host, only those
  /// in /etc do, even through a link.
  bool ask_host() const {
    if (node_numbers != "auto") return node_numbers == "asked";
    if (output_named_in_etc) return true;
    std::error_code ignored;
    const auto real = std::filesystem::weakly_canonical(output_dir, ignored).string();
    if (root == "/") return !is_below(real, {"/run", "/var/run"}) && !is_in_memory(real);
    const auto place = place_on_host(output_dir);
    return place ? !is_below(*place, {"/run", "/var/run"}) : is_in_etc(real);
  }

  /// Whether a path is in /etc of the host.
  bool is_in_etc(const std::string& path) const {
    return is_below(place_on_host(path).value_or(path), {"/etc"});
  }

 private:
  /// Whether a path is that of one of these directories, or below it.
  static bool is_below(const std::string& path, std::initializer_list<std::string_view> dirs) {
    return std::any_of(dirs.begin(), dirs.end(), [&](std::string_view dir) {
      return path == dir || (path.starts_with(dir) && path[dir.size()] == '/');
    });
  }

  /// Whether a directory, or the next one above that exists, is on a file system that a reboot
  /// empties.
  static bool is_in_memory(std::filesystem::path path) {
    struct statfs found = {};
    while (::statfs(path.c_str(), &found) != 0) {
      if (path == path.parent_path()) return false;
      path = path.parent_path();
    }
    return found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC;
  }
};

}  // namespace prepare
