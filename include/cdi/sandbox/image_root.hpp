// `ImageRoot`: the files of a container's image, read without leaving its root directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_IMAGE_ROOT_HPP
#define CDI_SANDBOX_IMAGE_ROOT_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns the absolute path of an existing directory without final slashes: a mount needs a path
/// that does not depend on the current directory. Fails with `Errc::system`.
Result<std::string> absolute_path(std::string path);

/// The root directory of an image. Links in the image lead to files of the image, even if another
/// process changes them meanwhile.
class ImageRoot {
 public:
  /// Opens a directory. Fails with `Errc::system`.
  static Result<ImageRoot> open(std::string path);

  /// Returns the path without links that a container path leads to; nullopt if there is no file.
  std::optional<std::string> resolve(std::string_view path) const;

  /// Opens a regular file or a directory; the descriptor is negative if there is none.
  Descriptor open_file(std::string_view path) const;

  /// Returns the text of a regular file; nullopt if there is none, or beyond `limit` bytes.
  std::optional<std::string> read(std::string_view path, std::size_t limit) const;

  /// Returns whether a mount point for a file can be at this path: the file exists, or its nearest
  /// existing directory is writable. Not at a link that leads nowhere, where some runtimes fail.
  bool can_mount_at(std::string_view path) const;

  /// Returns the path on the host of a container path without links.
  std::string on_host(std::string_view path) const { return path_ + std::string{path}; }

 private:
  ImageRoot(std::string path, Descriptor root) : path_{std::move(path)}, root_{std::move(root)} {}

  /// A file or directory of the image, which is not a link.
  struct Entry {
    std::string path{};     // in the image, clean and without links
    Descriptor folder{-1};  // the directory of the file
    std::string name = ".";
    struct stat info = {};
  };

  /// Follows a path inside the root; nullopt if it leads nowhere.
  std::optional<Entry> find(std::string_view path) const;

  std::string path_;  // without a final slash
  Descriptor root_;
};

/// The dynamic linkers of an image.
struct ImageLinkers {
  bool glibc = false;
  std::vector<std::string> musl{};  // the machines of musl's linkers, such as `x86_64`, each once
};

/// Returns the dynamic linkers in /lib and /lib64 of an image.
ImageLinkers linkers_of(const ImageRoot& image);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/sandbox/image_root.inl>
#endif

#endif  // CDI_SANDBOX_IMAGE_ROOT_HPP
