// Replaces a file so that a crash leaves the old one or the new one.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_REPLACE_FILE_HPP
#define CDI_FILES_REPLACE_FILE_HPP

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

namespace detail {

/// The name of a temporary file beside `name`: `.NAME.PID-NUMBER.cdi-tmp`.
std::string temporary_name(std::string_view name, std::uint64_t number);

/// The `name` that `temporary_name` was given, at most 200 bytes of it, in any process; nothing for
/// what is no such name.
std::optional<std::string_view> temporary_target(std::string_view made);

/// Whether `temporary_name` makes such names, in any process.
bool is_temporary_name(std::string_view name);

/// Locks an open file without waiting; the lock goes with the last descriptor of this opening.
bool try_lock(int descriptor);

/// Makes a new file with a name of its own beside `name`. It stays locked as long as it is open: so
/// others can tell a living writer from a killed one, in whatever PID namespace it is.
Descriptor make_temporary(int directory, std::string_view name, std::string& made);

/// Whether a file is a temporary one whose writer is gone. `file` is locked as long as it is open,
/// so that it stays so.
bool is_abandoned(int directory, const std::string& name, const Descriptor& file);

/// Opens a temporary file, if its writer is gone; it is locked as long as it is open, so that it
/// stays so. Not what is no regular file.
Descriptor open_abandoned(int directory, const std::string& name);

/// A new text for a file, in a temporary file beside it; removed again unless it was renamed.
class Temporary {
 public:
  struct Attributes {
    mode_t mode = 0644;
    uid_t owner = static_cast<uid_t>(-1);  // the caller
    gid_t group = static_cast<gid_t>(-1);
  };

  /// `directory` stays open as long as this lives.
  Temporary(int directory, std::string_view name);
  Temporary(const Temporary&) = delete;
  Temporary(Temporary&&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  const std::string& name() const { return name_; }

  /// Writes and syncs it; once, first of all. `path` is for messages.
  Result<void> fill(std::string_view path, std::string_view text, const Attributes& attributes);

  /// Puts it in the place of a file. False, and the reason in `errno`, when that failed.
  bool replace(const std::string& name);

  /// Puts it where no file is: `EEXIST` when there is one. File systems that cannot tell replace
  /// it.
  bool create(const std::string& name);

 private:
  int directory_;
  std::string name_{};
  Descriptor file_;
  bool renamed_ = false;
};

/// Makes what was done to the names of a directory survive a crash of the system.
Result<void> sync_directory(int directory, std::string_view path);

}  // namespace detail

/// Replaces the text of a file, or makes it, so that a crash at any moment leaves the old text or
/// the new one, whole: a temporary file in the same directory gets its mode, is written and synced,
/// renamed over the target, and the directory is synced. A link at `path` is replaced, not
/// followed. A writer that is killed may leave its temporary file, `.NAME.PID-NUMBER.cdi-tmp`,
/// which a `Publisher` and `cdi gc` remove. Owner and group are the caller's, unless given; the
/// mode is `mode` whatever the umask. `Errc::system` when the system refuses anything of it, and
/// when the path names no file: then the file is as it was, unless only the sync of its directory
/// failed.
Result<void> replace_file(const std::string& path, std::string_view text, mode_t mode = 0644,
                          uid_t owner = static_cast<uid_t>(-1),
                          gid_t group = static_cast<gid_t>(-1));

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/impl/replace_file.hpp>
#endif

#endif  // CDI_FILES_REPLACE_FILE_HPP
