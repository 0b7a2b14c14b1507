// Files under the root of a container, whose links may be hostile.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_ROOTFS_ROOTED_FILES_HPP
#define CDI_TOOLS_CDI_ROOTFS_ROOTED_FILES_HPP

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>

#include "../../kit/host/open_in_root.hpp"
#include "../../kit/host/rooted_paths.hpp"

/// Whether an error means that the path does not exist or a parent is a file.
inline bool is_missing(const cdi::Error& error) {
  return error.system == ENOENT || error.system == ENOTDIR;
}

/// A file name, and the path of its directory.
struct SplitPath {
  std::string folder{};
  std::string name{};

  /// `path` is absolute, and does not end in a slash.
  explicit SplitPath(std::string_view path)
      : folder{path.substr(0, path.rfind('/') + 1)}, name{path.substr(path.rfind('/') + 1)} {}
};

/// The files under a directory, as if it were /. A path is resolved once, to an open descriptor: no
/// link leads out, even if another process changes links at the same time. Uses openat2(2), or
/// walks the path if the kernel or a seccomp filter does not allow that.
class RootedFiles {
 public:
  /// The maximum number of directories on a path to create: all of them are open at the same time.
  static constexpr std::size_t max_folders = 256;

  /// The error for a path with more directories.
  static cdi::Error too_deep() {
    return {.code = cdi::Errc::denied,
            .message = fmt::format("it is in more than {} directories", max_folders)};
  }

  /// The way to resolve paths.
  enum class Lookup : std::uint8_t {
    by_kernel,  // if possible
    by_walk,
  };

  static cdi::Result<RootedFiles> open(const std::string& root, Lookup lookup = Lookup::by_kernel) {
    auto paths = tools::RootedPaths::open(root);
    if (!paths) return paths.error();
    return RootedFiles{*std::move(paths), lookup};
  }

  /// Opens a file or directory with `O_PATH` and these flags; follows links, except with
  /// `O_NOFOLLOW` the last one. The error is `ENOENT` if the file is missing.
  cdi::Result<cdi::Descriptor> find(const std::string& path, int flags = 0) const {
    if (lookup_ == Lookup::by_kernel) {
      cdi::Descriptor found = tools::open_in_root(paths_.root().get(), path, O_PATH | flags);
      if (found) return found;
      // `EPERM`: a seccomp filter; `EAGAIN`: another process renames directories.
      if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) return failed(path);
    }
    using Last = tools::RootedPaths::Last;
    const bool keeps_link = (flags & O_NOFOLLOW) != 0;
    const auto place = paths_.find(path, keeps_link ? Last::keep : Last::follow);
    if (!place) return place.error();
    cdi::Descriptor found = place->open(O_PATH | flags);
    if (!found) return failed(path);
    return found;
  }

  /// Opens a directory with `O_PATH`.
  cdi::Result<cdi::Descriptor> find_folder(const std::string& path) const {
    return find(path, O_DIRECTORY);
  }

  /// The target of a link; nullopt if the file is missing or not a link. Follows parent links.
  cdi::Result<std::optional<std::string>> read_link(const std::string& path) const {
    const auto found = find(path, O_NOFOLLOW);
    if (found) return tools::read_link(found->get(), "");
    if (is_missing(found.error())) return std::optional<std::string>{};
    return found.error();
  }

  /// Opens a directory, and creates the missing parts of its path.
  cdi::Result<cdi::Descriptor> make_folder(const std::string& path) const {
    using tools::RootedPaths;
    auto found = find_folder(path);
    if (found || found.error().system != ENOENT) return found;
    const auto place = paths_.find(path, RootedPaths::Last::follow, RootedPaths::IfMissing::make);
    if (!place) return place.error();
    cdi::Descriptor made = place->open(O_PATH | O_DIRECTORY);
    if (!made) return failed(path);
    return made;
  }

  /// The innermost existing directory of a path. Fails if the rest of the path, which may come from
  /// links, could not be created.
  cdi::Result<cdi::Descriptor> find_existing(const std::string& path) const {
    using tools::RootedPaths;
    const auto place = paths_.find(path, RootedPaths::Last::follow, RootedPaths::IfMissing::report);
    if (!place) return place.error();
    errno = ENAMETOOLONG;
    for (const auto& name : place->missing) {
      if (name.size() > NAME_MAX) return failed(path);
    }
    if (place->names.size() + place->missing.size() >= max_folders) return too_deep();
    cdi::Descriptor above{::openat(place->directory(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!above) return failed(path);
    return above;
  }

  /// Opens a regular file; nullopt if it is missing or not regular. Follows links.
  cdi::Result<std::optional<cdi::Descriptor>> open_file(const std::string& path) const {
    const auto found = find(path);
    if (!found && found.error().system == ENOENT) return std::optional<cdi::Descriptor>{};
    if (!found) return found.error();
    struct stat status = {};
    if (::fstat(found->get(), &status) != 0) return failed(path);
    if (!S_ISREG(status.st_mode)) return std::optional<cdi::Descriptor>{};
    cdi::Descriptor file{
        ::open(path_of(*found).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!file) return failed(path);
    return std::optional{std::move(file)};
  }

  /// The text of a regular file; nullopt if the file is missing or not regular. Follows links.
  cdi::Result<std::optional<std::string>> read(const std::string& path,
                                               std::size_t limit = cdi::Limits{}.bytes) const {
    const auto file = open_file(path);
    if (!file) return file.error();
    if (!*file) return std::optional<std::string>{};
    auto text = cdi::read_all((*file)->get(), path, limit);
    if (!text) return std::move(text).error();
    return std::optional{*std::move(text)};
  }

  /// A path through which this process can use an open file, even one opened with `O_PATH`.
  static std::string path_of(const cdi::Descriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
  }

 private:
  RootedFiles(tools::RootedPaths paths, Lookup lookup)
      : paths_{std::move(paths)}, lookup_{lookup} {}

  static cdi::Error failed(std::string_view path) {
    return cdi::file_error(path, "cannot open it in the root");
  }

  tools::RootedPaths paths_;
  Lookup lookup_;
};

#endif  // CDI_TOOLS_CDI_ROOTFS_ROOTED_FILES_HPP
