// Makes a spec from the words of a command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include <cdi/spec.hpp>

/// The words that describe a spec; each has the form that `edit_words.hpp` checks.
struct SpecWords {
  std::string kind{};
  std::vector<std::string> devices{};        // NAME or NAME=HOST[:CONTAINER[:PERMISSIONS]]
  std::vector<std::string> mounts{};         // of all devices
  std::vector<std::string> env{};            // of all devices
  std::vector<std::string> device_mounts{};  // DEVICE=HOST:CONTAINER[:OPTIONS]
  std::vector<std::string> device_env{};     // DEVICE=NAME=VALUE
  std::vector<std::string> annotations{};    // NAME=VALUE
  bool all = false;                          // a device `all` with the edits of all others
};

/// Makes a spec without a version. Only the names of devices are checked, not the rules of specs.
cdi::Result<cdi::Spec> spec_of_words(const SpecWords& words);
