// The settings file of cdi-prepare, and whether recorded options agree with it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <cdi/model/any_value.hpp>

#include "../base/toml.hpp"
#include "../host/host_tree.hpp"
#include "recorded_options.hpp"

namespace tools {

/// The file with settings for all commands of cdi-prepare, on the host.
inline constexpr const char* settings_path = "/etc/cdi-prepare/config.toml";

/// The options that the file can set: all except options for a single run, such as --dry-run and
/// --force.
struct WriteSettings : WriteOptions {
  std::vector<std::string> engines{};
  bool make_nodes = false;
  std::string nvml_library{};
  std::string output_dir{};
  std::string state_dir{};
  cdi::AnyValue expect{};  // numbers
  cdi::AnyValue interval{};
  cdi::AnyValue lock_timeout{};
  cdi::AnyValue wait{};

  static constexpr void fields(auto& list) {
    WriteOptions::fields(list);
    list("for", &WriteSettings::engines);
    list("make-nodes", &WriteSettings::make_nodes);
    list("nvml-library", &WriteSettings::nvml_library);
    list("output-dir", &WriteSettings::output_dir);
    list("state-dir", &WriteSettings::state_dir);
    list("expect", &WriteSettings::expect);
    list("interval", &WriteSettings::interval);
    list("lock-timeout", &WriteSettings::lock_timeout);
    list("wait", &WriteSettings::wait);
  }
};

/// Whether `cdi-prepare write` with recorded options writes the same to a directory although it
/// also reads the settings file of the host: each setting there that counts is one of them, or has
/// its usual value.
inline bool agrees_with_settings(const HostTree& tree, const WriteOptions& options,
                                 const std::string& directory) {
  const auto text = tree.read(settings_path);
  if (!text) return true;
  WriteSettings settings;
  if (!read_toml(*text, settings_path, settings)) return false;
  const bool is_there = settings.output_dir.empty() || settings.output_dir == directory;
  if (!settings.engines.empty() || !is_there) return false;
  std::sort(settings.devices.begin(), settings.devices.end());
  const auto wanted = option_words(options);
  const auto defaults = option_words({});
  const auto has = [](const std::vector<std::string>& all, const std::string& word) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  const auto words = option_words(settings);
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return has(defaults, word) || has(wanted, word);
  });
}

}  // namespace tools
