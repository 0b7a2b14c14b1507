// The options of all commands, and the scan of their spec directories.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/scan.hpp>

#include "output.hpp"
#include <CLI/CLI.hpp>

/// The options of all commands.
struct CommonOptions {
  std::vector<std::string> named_dirs{};  // of --spec-dir
  std::string format = "text";            // of --output
  std::vector<std::string> command{};     // of `run`: the words after --
  cdi::ReadOptions reading{};

  /// Whether the user passed spec directories, which must then exist.
  bool dirs_named() const { return !named_dirs.empty(); }

  /// The directories from --spec-dir, or the default directories.
  std::vector<std::string> spec_dirs() const {
    return dirs_named() ? named_dirs : cdi::default_spec_dirs();
  }
};

/// Rejects --quarantine for a command that writes specs.
inline void reject_quarantine(const char* command, const CommonOptions& common) {
  if (!common.reading.quarantine_devices) return;
  throw CLI::ValidationError{command,
                             "cannot be combined with --quarantine: devices would be lost"};
}

/// The error for a missing directory, or for a dangling link in its place.
inline cdi::Error missing_dir(const std::string& path) {
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(path, failed).string();
  return {.message = failed ? "no such directory"
                            : "the link leads to no directory: " + cdi::quoted(target),
          .position = {.file = path}};
}

/// The errors in files, and errors for missing directories from --spec-dir.
inline std::vector<cdi::Error> errors_of(const CommonOptions& common,
                                         const cdi::Registry& registry) {
  auto errors = registry.errors();
  for (const auto& dir : registry.dirs()) {
    if (common.dirs_named() && dir.state == cdi::SpecDir::State::missing) {
      errors.push_back(missing_dir(dir.path));
    }
  }
  return errors;
}

/// Prints the warnings about valid files on standard error.
inline void warn_of_specs(const cdi::Registry& registry, const Output& output) {
  for (const auto& spec : registry.specs()) {
    for (const auto& warning : spec->warnings) output.warning(warning);
  }
}

/// Prints errors and warnings about files on standard error.
inline void warn(const CommonOptions& common, const cdi::Registry& registry, const Output& output) {
  for (const auto& error : errors_of(common, registry)) output.warning(error);
  warn_of_specs(registry, output);
}

/// Scans the directories, and prints errors and warnings about their files.
inline std::shared_ptr<const cdi::Registry> scan_and_warn(const CommonOptions& common,
                                                          const Output& output) {
  auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  warn(common, *registry, output);
  return registry;
}

/// The warning that the spec directories have no spec files.
inline cdi::Error no_spec_files(const CommonOptions& common) {
  cdi::Error nothing{.message = "no spec files in"};
  for (const auto& dir : common.spec_dirs()) nothing.message.append(" ").append(printable(dir));
  return nothing;
}

/// The engine with the name of our tables: `crio`, the name of a program, stands for `cri-o`.
inline std::string engine_of_word(const std::string& word) {
  const bool is_program = word.substr(0, word.find('@')) == "crio";
  return is_program ? "cri-o" + word.substr(4) : word;
}
