// What the user asks for, and the scan of the spec directories.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_REQUEST_HPP
#define CDI_EXAMPLES_CDI_REQUEST_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/host_options.hpp>

#include "output.hpp"

/// The options and arguments of the commands.
struct Request {
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  bool dirs_named = false;           // by the user: then they should exist
  std::vector<std::string> files{};  // of `validate`
  std::string config{};              // of `inject` and `rootfs`
  cdi::ReadOptions reading{};
  std::vector<std::string> names{};   // of `inject`, `resolve` and `why`
  bool in_place = false;              // of `inject` and `convert`
  bool backup = false;                // of `convert`
  bool quiet = false;                 // of `inject`
  bool diff = false;                  // of `inject`
  bool partial = false;               // of `inject`
  std::string hooks = "keep";         // of `inject`: keep, lower or refuse
  std::string root{};                 // of `rootfs`
  bool apply = false;                 // of `rootfs`
  bool strict = false;                // of `validate`
  bool rules = false;                 // of `validate`
  std::string file{};                 // of `convert`
  std::string release{};              // of `convert`, or
  std::string engine{};               // of `convert`
  std::string asked_engine{};         // of `why`
  std::string host_root{"/"};         // of `why`
  bool no_host = false;               // of `why`
  bool lossy = false;                 // of `convert`
  std::string policy{};               // the file; of `inject` and `policy`
  std::string decisions{};            // the log; of `inject`
  std::string source{"commandLine"};  // of the names; of `inject` and `policy`
  std::string drift{"keep"};          // of `inject`
  std::string features{};             // the file of the runtime; of `inject`
  cdi::HostOptions host{};            // of `inject`
};

/// The errors of files, and of directories that are named but missing.
inline std::vector<cdi::Error> errors_of(const Request& request, const cdi::Registry& registry) {
  auto errors = registry.errors();
  for (const auto& dir : registry.dirs()) {
    if (!request.dirs_named || dir.state != cdi::SpecDir::State::missing) continue;
    errors.push_back({.message = "no such directory", .position = {.file = dir.path}});
  }
  return errors;
}

/// Prints errors and warnings of files on standard error.
inline void warn(const Request& request, const cdi::Registry& registry, const Output& output) {
  for (const auto& error : errors_of(request, registry)) output.warning(error);
  for (const auto& spec : registry.specs()) {
    for (const auto& warning : spec->warnings) output.warning(warning);
  }
}

/// Scans the directories, and prints errors and warnings of their files.
inline std::shared_ptr<const cdi::Registry> scan_and_warn(const Request& request,
                                                          const Output& output) {
  auto registry = cdi::scan_spec_dirs(request.spec_dirs, request.reading);
  warn(request, *registry, output);
  return registry;
}

/// Reads the specs; with `--quiet`, only the files that can define the devices.
inline std::shared_ptr<const cdi::Registry> scan(const Request& request,
                                                 const cdi::ReadOptions& reading) {
  if (!request.quiet) return cdi::scan_spec_dirs(request.spec_dirs, reading);
  return cdi::scan_spec_dirs_for(request.names, request.spec_dirs, reading);
}

/// Reads the specs again, with the places of all members, for errors and conflicts. To keep them
/// takes a tenth of the time of an injection, so that the first scan does not.
inline std::shared_ptr<const cdi::Registry> scan_with_places(const Request& request) {
  auto reading = request.reading;
  reading.keep_places = true;
  return scan(request, reading);
}

#endif  // CDI_EXAMPLES_CDI_REQUEST_HPP
