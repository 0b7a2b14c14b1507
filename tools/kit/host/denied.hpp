// Errors of writers that may not write to their directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/access.hpp>
#include <cdi/result.hpp>

namespace tools {

/// Whether a missing right has caused an error.
inline bool is_denied(const cdi::Error& error) {
  return error.system == EACCES || error.system == EPERM;
}

/// Adds the access to a directory, or to the next one above that exists, to the error of opening it
/// without the right.
inline cdi::Error with_access(cdi::Error error, std::filesystem::path directory) {
  if (!is_denied(error)) return error;
  struct stat info = {};
  while (::stat(directory.c_str(), &info) != 0 && directory.has_relative_path()) {
    if (directory == ".") return error;
    directory = directory.has_parent_path() ? directory.parent_path() : ".";
  }
  error.message += " in " + cdi::quoted(directory.string());
  return cdi::detail::with_access(std::move(error), info);
}

/// Adds what to do to an error that a missing right has caused: `option` chooses another directory.
inline cdi::Error with_denied_advice(cdi::Error error, std::string_view option) {
  if (is_denied(error) && ::geteuid() != 0 && error.advice.empty()) {
    error.advice =
        fmt::format("run this as root, or choose a directory of your own with {}", option);
  }
  return error;
}

}  // namespace tools
