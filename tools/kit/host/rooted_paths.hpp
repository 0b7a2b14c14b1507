// Resolves paths under a directory as if it were /.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>

namespace tools {

/// The target of a link; nullopt if the file is not a link.
std::optional<std::string> read_link(int directory, const std::string& name);

/// An error about a file: `PATH: REASON`.
cdi::Error path_error(std::string_view path, int number, std::string_view reason = {});

/// A file name in a directory, and the open directories that lead to it.
struct Place {
  std::vector<cdi::Descriptor> way{};  // open directories, from the root to the file's directory
  std::vector<std::string> names{};    // of these directories, without the root
  std::string name = ".";
  struct stat status = {};
  std::vector<std::string> missing{};  // the rest of the path, last part first

  /// The path without links, if this is the end of a resolved path.
  std::string path() const;
  int directory() const { return way.back().get(); }
  bool is_link() const { return S_ISLNK(status.st_mode); }
  bool read_status();
  cdi::Descriptor open(int flags) const;
  /// Creates the directory, readable by all whatever the umask is.
  bool make() const { return cdi::detail::make_directory(directory(), name, 0755); }
  bool enter();
  void leave();
  void leave_all();
};

/// The paths under a directory, as if that directory were /. No link leads out, even if another
/// process changes links at the same time.
class RootedPaths {
 public:
  enum class Last : std::uint8_t { follow, keep };  // how to treat a link at the end of a path

  /// How to treat a missing part of a path.
  enum class IfMissing : std::uint8_t {
    fail,
    make,    // a directory
    report,  // report the missing parts in the `Place`
  };

  static constexpr int link_limit = 40;  // links on a path, as in the kernel

  static cdi::Result<RootedPaths> open(const std::string& root);

  /// The open directory that is used as /.
  const cdi::Descriptor& root() const { return root_; }

  /// The `stat` of a file. The kernel resolves the path if it can: most files of a survey are ten
  /// directories deep, and `find` makes three system calls for each directory.
  cdi::Result<struct stat> status(const std::string& path, Last last) const;

  /// Opens the file that a path leads to, in the same way. If that fails, `errno` says why.
  cdi::Descriptor open_file(const std::string& path, int flags) const;

  /// Walks down from the root, one directory at a time, and follows links itself: an absolute link
  /// starts again at the root, and `..` stops there.
  cdi::Result<Place> find(std::string_view path, Last last,
                          IfMissing missing = IfMissing::fail) const;

 private:
  explicit RootedPaths(cdi::Descriptor root) : root_{std::move(root)} {}

  /// Fails with `ENOENT` if there is no such file. Other errors may mean that only `find` can look
  /// for it.
  cdi::Descriptor open_at_once(const std::string& path, int flags) const;

  /// Puts the target of a link before the rest of a path.
  static bool follow(Place& link, std::vector<std::string>& rest);

  static std::vector<std::string> reversed_parts(std::string_view path);

  cdi::Descriptor root_;
};

}  // namespace tools
