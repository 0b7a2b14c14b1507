// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_HOST_DIRECTORIES_HPP
#define CDI_PREPARE_HOST_DIRECTORIES_HPP

#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/result.hpp>

#include "../base/options.hpp"
#include "rooted_paths.hpp"

// The directories that are written to. Below a root other than /, they are where the host of that
// root has them: a link such as /var/run -> /run leads to the /run of the root.

namespace prepare {

/// A directory held open, so that all that is done in it is done in the same one.
struct Directory {
  cdi::Descriptor descriptor{-1};  // none when it is missing
  std::string path{};              // for messages

  int number() const { return descriptor.get(); }
  std::string path_of(std::string_view name) const {
    std::string out = path.ends_with('/') ? path : path + "/";
    return out.append(name);
  }
};

/// Whether a directory that is missing is made, with those above it, open to readers.
enum class Missing : std::uint8_t { stays, made };

namespace detail {

/// What is looked at as /, and a path below it.
struct PathBelow {
  std::string root{};
  std::string path{};
};

inline PathBelow below_its_root(const Options& options, const std::string& path) {
  if (auto place = options.place_on_host(path)) return {options.root, std::move(*place)};
  return {"/", path};
}

/// The path here of what a root has at `path`.
inline std::string joined(const std::string& root, const std::string& path) {
  return root == "/" ? path : root + path;
}

}  // namespace detail

/// Where a path below the root leads to: the same without links as far as it is there. One that
/// is not below the root, and one that cannot be looked at, stays.
inline std::string resolved(const Options& options, const std::string& path) {
  const auto [root, below] = detail::below_its_root(options, path);
  const auto paths = RootedPaths::open(root);
  if (root == "/" || !paths) return path;
  const auto place = paths->find(below, RootedPaths::Last::follow, RootedPaths::IfMissing::tell);
  if (!place) return path;
  return detail::joined(root, std::filesystem::path{place->path()}.lexically_normal().string());
}

/// Opens a directory. When it lies below the root by its path, no link leads it out of there.
inline cdi::Result<Directory> open_directory(const Options& options, const std::string& path,
                                             Missing missing) {
  const auto make = missing == Missing::made;
  const auto fail = [&](int number) {
    errno = number;
    return cdi::file_error(
        path, make ? "cannot open the directory, nor make it" : "cannot open the directory");
  };
  // The working directory is gone, or a link before the dots leads nowhere.
  const bool leads_nowhere =
      !path.starts_with('/') || (path + "/").find("/../") != std::string::npos;
  if (leads_nowhere) return fail(ENOENT);
  if (path.find('\0') != std::string::npos) return fail(EINVAL);
  const auto [root, below] = detail::below_its_root(options, path);
  const auto paths = RootedPaths::open(root);
  if (!paths) return fail(paths.error().system);
  const auto place =
      paths->find(below, RootedPaths::Last::follow,
                  make ? RootedPaths::IfMissing::make : RootedPaths::IfMissing::fail);
  if (!place && !make && place.error().system == ENOENT) return Directory{.path = path};
  if (!place) return fail(place.error().system);
  Directory out{place->open(O_RDONLY | O_DIRECTORY), path};
  if (!out.descriptor) return fail(errno);
  if (root != "/") out.path = detail::joined(root, place->path());
  return out;
}

/// The names of what is in a directory.
inline cdi::Result<std::vector<std::string>> names_in(const Directory& directory) {
  std::vector<std::string> names;
  if (!directory.descriptor) return names;
  // Opened anew, for a place in the list of its own.
  cdi::Descriptor own{::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  DIR* const stream = own ? ::fdopendir(own.get()) : nullptr;
  if (stream == nullptr) return cdi::file_error(directory.path, "cannot list the directory");
  static_cast<void>(own.release());  // closedir closes it
  errno = 0;
  while (const auto* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int failed = errno;
  ::closedir(stream);
  errno = failed;
  if (failed != 0) return cdi::file_error(directory.path, "cannot list the directory");
  return names;
}

/// Makes what was done to the names of a directory survive a crash of the host.
inline cdi::Result<void> sync_names(const Directory& directory) {
  // Some file systems cannot sync directories, and say so with EINVAL.
  if (::fsync(directory.number()) == 0 || errno == EINVAL) return {};
  return cdi::file_error(directory.path, "cannot sync the directory");
}

/// As `cdi::replace_file`, for a file of an open directory.
inline cdi::Result<void> replace_file(const Directory& directory, const std::string& name,
                                      std::string_view text, mode_t mode) {
  const auto path = directory.path_of(name);
  cdi::detail::Temporary temporary{directory.number(), name};
  if (auto filled = temporary.fill(path, text, {.mode = mode}); !filled) return filled;
  if (!temporary.replace(name)) return cdi::file_error(path, "cannot rename the temporary file");
  return sync_names(directory);
}

}  // namespace prepare

#endif  // CDI_PREPARE_HOST_DIRECTORIES_HPP
