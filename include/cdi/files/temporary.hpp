// Temporary files next to the files they replace: names, creation and cleanup after killed writers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_TEMPORARY_HPP
#define CDI_FILES_TEMPORARY_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The mode, owner and group of a file to write.
struct FileAttributes {
  mode_t mode = 0644;                    ///< regardless of the umask
  uid_t owner = static_cast<uid_t>(-1);  ///< -1: this process's user
  gid_t group = static_cast<gid_t>(-1);  ///< -1: this process's group
  /// Whether file and directory are synced. If not, a crash of the system, but not of the process,
  /// may lose the text: for files that only matter until the next boot.
  bool sync = true;
};

/// Returns whether a name has the form `.NAME.PID-NUMBER.cdi-tmp` that `replace_file`, in any
/// process, gives to its temporary files.
bool is_temporary_name(std::string_view name);

/// Removes the temporary files that killed processes left for the file `name` in an open directory.
/// Files that cannot be removed are left in place.
void remove_temporaries_of(int directory, std::string_view name);

namespace detail {

/// Returns a number that other processes cannot predict, so that they cannot occupy the resulting
/// names. If the system has no random numbers, the number merely differs from call to call.
std::uint64_t unpredictable_number();

/// Makes the name of a temporary file for `name`: `.NAME.PID-NUMBER.cdi-tmp`.
std::string temporary_name(std::string_view name, std::uint64_t number);

/// Returns the original name, or its first 200 bytes, of a file whose temporary name
/// `temporary_name` made in any process; otherwise nothing.
std::optional<std::string_view> temporary_target(std::string_view made);

/// Creates a file with a unique name in the directory of `name`. The file stays locked while it is
/// open: the lock distinguishes a living writer from a killed one, in any PID namespace.
Descriptor make_temporary(int directory, std::string_view name, std::string& made);

/// Returns whether a killed writer left a temporary file. The file then stays locked while `file`
/// is open, so that no writer uses it.
bool is_abandoned(int directory, const std::string& name, const Descriptor& file);

/// Opens and locks a temporary file that a killed writer left. Only regular files are opened.
Descriptor open_abandoned(int directory, const std::string& name);

/// Renames a file within an open directory, but fails with `EEXIST` if the new name exists. Returns
/// false on failure, with the reason in `errno`: `EINVAL` if the file system lacks this operation.
bool rename_to_new(int directory, const char* from, const char* to);

/// The new text of a file, in a temporary file in the same directory. The destructor removes the
/// temporary file unless it was renamed.
class Temporary {
 public:
  /// `directory` must stay open for the lifetime of this object.
  Temporary(int directory, std::string_view name);
  Temporary(const Temporary&) = delete;
  Temporary(Temporary&&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  const std::string& name() const { return name_; }

  /// The error of a failed system call, with the access to the directory if that is denied.
  Error directory_error(std::string_view path, std::string_view what) const;

  /// Writes the file, and syncs it as the attributes say. Call this first, and only once. `path`
  /// appears in messages.
  Result<void> fill(std::string_view path, std::string_view text, const FileAttributes& attributes);

  /// Renames the temporary file over a file. Returns false on failure, with the reason in `errno`.
  bool replace(const std::string& name);

  /// Renames the temporary file, but fails with `EEXIST` if the new name exists. A file system that
  /// has neither this operation nor hard links replaces the existing file.
  bool create(const std::string& name);

 private:
  int directory_;
  std::string name_{};
  Descriptor file_;
  bool renamed_ = false;
};

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/temporary.inl>
#endif

#endif  // CDI_FILES_TEMPORARY_HPP
