// Generated files: written once, named after their content, and removed when unused.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_STATE_DIR_HPP
#define CDI_SANDBOX_STATE_DIR_HPP

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns the names of the generated files in a directory that `without_hooks` has not used for
/// `unused`, and of the temporary files that a killed writer left before. Fails with
/// `Errc::system`.
Result<std::vector<std::string>> unused_generated(const std::string& state_dir,
                                                  std::chrono::seconds unused);

/// Removes the files of `unused_generated`, and returns their names. Files with other names stay,
/// and a file that a container has mounted remains in that container; one that starts again later
/// does not find it. A file that comes into use meanwhile stays. Fails with `Errc::system`, and
/// with `Errc::conflict` if another program locks the directory (flock(2)) for five seconds.
Result<std::vector<std::string>> remove_generated(const std::string& state_dir,
                                                  std::chrono::seconds unused);

namespace detail {

/// Makes the name of a generated file from a hash of its text: `cdi-HASH-NAME`. `turn` tells files
/// with equal hashes apart.
std::string generated_name(std::string_view name, std::string_view text, unsigned turn);

/// A directory for generated files.
class StateDir {
 public:
  /// Opens a directory. Fails with `Errc::system` if it cannot be opened, and with `Errc::denied`
  /// if other users may write in it, or may make its path lead elsewhere: they could put a file of
  /// their own into a container.
  static Result<StateDir> open(const std::string& path);

  /// Returns the absolute path of a file with this text, whose name ends with `name`. Writes the
  /// file unless it exists; otherwise marks the file as used. A file that other users may write,
  /// or that is not a regular file, is not used. Fails with `Errc::system`, and with
  /// `Errc::conflict` if every name that the file could have is taken.
  Result<std::string> file(std::string_view name, std::string_view text) const;

  /// Returns the text of a generated file of this directory, given its path as `file` returns it;
  /// nullopt for any other path, for a file that others may write, and beyond `limit` bytes.
  std::optional<std::string> read(std::string_view path, std::size_t limit) const;

 private:
  StateDir(std::string path, Descriptor directory);

  std::string path_of(std::string_view name) const;

  std::string path_;
  Descriptor directory_;
};

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/sandbox/state_dir.inl>
#endif

#endif  // CDI_SANDBOX_STATE_DIR_HPP
