// Access to output directories.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/claims.hpp>
#include <cdi/result.hpp>

#include "../../kit/host/denied.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "../base/options.hpp"

// Under a root other than /, paths are resolved as on that host: a link such as /var/run -> /run
// leads to /run under the root.

namespace prepare {

using Directory = cdi::ClaimDirectory;
using Missing = cdi::MissingDirectory;

namespace detail {

/// A root, and a path under it.
struct PathBelow {
  std::string root{};
  std::string path{};
};

inline PathBelow below_its_root(const HostOptions& options, const std::string& path) {
  if (auto place = options.place_on_host(path)) return {options.root, std::move(*place)};
  return {"/", path};
}

/// Converts a path under a root to a path here.
inline std::string joined(const std::string& root, const std::string& path) {
  return root == "/" ? path : root + path;
}

}  // namespace detail

/// Resolves the links in the existing part of a path under the root. A path that is not under the
/// root, or cannot be read, is returned unchanged.
inline std::string resolved(const HostOptions& options, const std::string& path) {
  const auto [root, below] = detail::below_its_root(options, path);
  const auto paths = tools::RootedPaths::open(root);
  if (root == "/" || !paths) return path;
  const auto place =
      paths->find(below, tools::RootedPaths::Last::follow, tools::RootedPaths::IfMissing::report);
  if (!place) return path;
  return detail::joined(root, std::filesystem::path{place->path()}.lexically_normal().string());
}

/// Opens a directory. If its path is under the root, no link leads out of the root.
inline cdi::Result<Directory> open_directory(const HostOptions& options, const std::string& path,
                                             Missing missing) {
  const auto make = missing == Missing::made;
  const auto fail = [&](int number) {
    errno = number;
    const auto* const what =
        make ? "cannot open or create the directory" : "cannot open the directory";
    return tools::with_access(cdi::file_error(path, what), path);
  };
  // The working directory is gone, or a link before the dots leads nowhere.
  const bool leads_nowhere = !path.starts_with('/') || cdi::detail::has_parent_part(path);
  if (leads_nowhere) return fail(ENOENT);
  if (path.find('\0') != std::string::npos) return fail(EINVAL);
  const auto [root, below] = detail::below_its_root(options, path);
  if (root == "/") {  // no link leads out; one system call instead of three for each part
    Directory out{cdi::Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}, path};
    if (out.descriptor) return out;
  }
  const auto paths = tools::RootedPaths::open(root);
  if (!paths) return fail(paths.error().system);
  const auto place =
      paths->find(below, tools::RootedPaths::Last::follow,
                  make ? tools::RootedPaths::IfMissing::make : tools::RootedPaths::IfMissing::fail);
  if (!place && !make && place.error().system == ENOENT) return Directory{.path = path};
  if (!place) return fail(place.error().system);
  Directory out{place->open(O_RDONLY | O_DIRECTORY), path};
  if (!out.descriptor) return fail(errno);
  if (root != "/") out.path = detail::joined(root, place->path());
  return out;
}

}  // namespace prepare
