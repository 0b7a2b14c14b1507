// Temporary files beside the files that they replace: their names, and what killed writers leave.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// Mode, owner and group of a file that is written.
struct FileAttributes {
  mode_t mode = 0644;                    ///< whatever the umask
  uid_t owner = static_cast<uid_t>(-1);  ///< -1: the user of this process
  gid_t group = static_cast<gid_t>(-1);  ///< -1: the group of this process
};

/// Whether `replace_file`, in any process, gives such a name to its temporary file:
/// `.NAME.PID-NUMBER.cdi-tmp`.
bool is_temporary_name(std::string_view name);

/// Removes the temporary files of the file `name` in an open directory, if the processes that wrote
/// them were killed. A file that cannot be removed stays.
void remove_temporaries_of(int directory, std::string_view name);

namespace detail {

/// A number that other processes cannot predict, so that they cannot occupy the names made with it.
/// If the system has no random numbers, one that differs from call to call.
std::uint64_t unpredictable_number();

/// The name of a temporary file for `name`: `.NAME.PID-NUMBER.cdi-tmp`.
std::string temporary_name(std::string_view name, std::uint64_t number);

/// The `name` for which `temporary_name` of any process made this one, at most 200 bytes of it;
/// nothing for other names.
std::optional<std::string_view> temporary_target(std::string_view made);

/// Locks an open file without waiting. The lock ends with the last descriptor of this `open`.
bool try_lock(int descriptor);

/// Creates a file with a unique name in the directory of `name`. It is locked as long as it is
/// open: the lock distinguishes a living writer from a killed one, in any PID namespace.
Descriptor make_temporary(int directory, std::string_view name, std::string& made);

/// Whether a temporary file was left by a killed writer. `file` is then locked as long as it is
/// open, so that no writer uses it.
bool is_abandoned(int directory, const std::string& name, const Descriptor& file);

/// Opens a temporary file that was left by a killed writer, and locks it as above. Only regular
/// files are opened.
Descriptor open_abandoned(int directory, const std::string& name);

/// A new text for a file, in a temporary file of its directory. It is removed unless it was
/// renamed.
class Temporary {
 public:
  /// `directory` stays open as long as this lives.
  Temporary(int directory, std::string_view name);
  Temporary(const Temporary&) = delete;
  Temporary(Temporary&&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  const std::string& name() const { return name_; }

  /// Writes and syncs the file; called once, before the others. `path` is for messages.
  Result<void> fill(std::string_view path, std::string_view text, const FileAttributes& attributes);

  /// Renames it over a file. False if that fails, with the reason in `errno`.
  bool replace(const std::string& name);

  /// Renames it if there is no file with the name, and fails with `EEXIST` otherwise. On file
  /// systems without this operation, it replaces the file.
  bool create(const std::string& name);

 private:
  int directory_;
  std::string name_{};
  Descriptor file_;
  bool renamed_ = false;
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/temporary.inl>
#endif

#endif  // CDI_FILES_TEMPORARY_HPP
