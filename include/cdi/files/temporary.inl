// The bodies of <cdi/files/temporary.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_TEMPORARY_INL
#define CDI_FILES_TEMPORARY_INL

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <cdi/files/access.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/lock.hpp>
#include <cdi/files/temporary.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// The suffix of temporary names, which therefore never name spec files.
inline constexpr std::string_view temporary_suffix = ".cdi-tmp";

CDI_INLINE std::string temporary_name(std::string_view name, std::uint64_t number) {
  std::string made = ".";
  made.append(name.substr(0, 200)).append(".").append(std::to_string(::getpid()));
  made.append("-").append(std::to_string(number)).append(temporary_suffix);
  return made;
}

CDI_INLINE std::optional<std::string_view> temporary_target(std::string_view made) {
  constexpr std::string_view digits = "0123456789";
  if (!made.starts_with('.') || !made.ends_with(temporary_suffix)) return std::nullopt;
  made.remove_suffix(temporary_suffix.size());
  for (const char before : {'-', '.'}) {
    const auto at = made.find_last_not_of(digits);
    if (at == std::string_view::npos || at + 1 == made.size() || made[at] != before) {
      return std::nullopt;
    }
    made = made.substr(0, at);
  }
  if (made.empty()) return std::nullopt;
  return made.substr(1);
}

CDI_INLINE std::uint64_t unpredictable_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

CDI_INLINE Descriptor make_temporary(int directory, std::string_view name, std::string& made) {
  static constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    made = temporary_name(name, unpredictable_number());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    Descriptor file{::openat(directory, made.c_str(), flags, S_IRUSR | S_IWUSR)};
    if (!file && errno == EEXIST) continue;
    if (!file) return file;
    // Before the lock, another process may have considered the file abandoned and removed it, or
    // may yet do so. On a file system without locks, no process removes it.
    if (!try_lock(file.get()) && errno == EWOULDBLOCK) continue;
    struct stat info = {};
    const bool known = ::fstat(file.get(), &info) == 0;
    if (known && info.st_nlink > 0) return file;
    if (!known) ::unlinkat(directory, made.c_str(), 0);
  }
  errno = EEXIST;
  return Descriptor{-1};
}

CDI_INLINE bool is_abandoned(int directory, const std::string& name, const Descriptor& file) {
  struct stat opened = {};
  struct stat named = {};
  return file && try_lock(file.get()) && ::fstat(file.get(), &opened) == 0 &&
         S_ISREG(opened.st_mode) &&
         // A writer may have renamed the file by now; the name then no longer refers to it.
         ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

CDI_INLINE Descriptor open_abandoned(int directory, const std::string& name) {
  struct stat named = {};
  if (::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(named.st_mode)) {
    return Descriptor{-1};  // opening some devices has side effects
  }
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  Descriptor file{::openat(directory, name.c_str(), flags)};
  return is_abandoned(directory, name, file) ? std::move(file) : Descriptor{-1};
}

CDI_INLINE bool rename_to_new(int directory, const char* from, const char* to) {
#if defined(__GLIBC__) && defined(RENAME_NOREPLACE)
  return ::renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0;
#else  // musl before 1.2.6 lacks the function, even if <linux/fs.h> has defined the flag
  constexpr unsigned no_replace = 1;
  return ::syscall(SYS_renameat2, directory, from, directory, to, no_replace) == 0;
#endif
}

CDI_INLINE Temporary::Temporary(int directory, std::string_view name)
    : directory_{directory}, file_{make_temporary(directory, name, name_)} {}

CDI_INLINE Temporary::~Temporary() {
  if (file_ && !renamed_) ::unlinkat(directory_, name_.c_str(), 0);
}

CDI_INLINE Error Temporary::directory_error(std::string_view path, std::string_view what) const {
  auto error = file_error(path, what);
  struct stat info = {};
  const bool known = ::fstatat(directory_, ".", &info, 0) == 0;
  return known ? with_access(std::move(error), info) : error;
}

CDI_INLINE Result<void> Temporary::fill(std::string_view path, std::string_view text,
                                        const FileAttributes& attributes) {
  const auto [mode, owner, group, sync] = attributes;
  const bool give_away = owner != static_cast<uid_t>(-1) || group != static_cast<gid_t>(-1);
  const int file = file_.get();
  if (!file_) return directory_error(path, "cannot create a temporary file in its directory");
  if (give_away && ::fchown(file, owner, group) != 0) {
    return file_error(path, "cannot set owner and group");
  }
  if (::fchmod(file, mode) != 0) return file_error(path, "cannot set the mode");
  if (!write_all(file, text)) return file_error(path, "cannot write");
  if (sync && ::fsync(file) != 0) return file_error(path, "cannot sync");
  return {};
}

CDI_INLINE bool Temporary::replace(const std::string& name) {
  renamed_ = ::renameat(directory_, name_.c_str(), directory_, name.c_str()) == 0;
  return renamed_;
}

CDI_INLINE bool Temporary::create(const std::string& name) {
  renamed_ = rename_to_new(directory_, name_.c_str(), name.c_str());
  if (renamed_ || (errno != EINVAL && errno != ENOSYS)) return renamed_;
  // Without such renames, as on NFS: a link of a name that exists fails, too.
  renamed_ = ::linkat(directory_, name_.c_str(), directory_, name.c_str(), 0) == 0;
  const bool has_links = errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS;
  if (!renamed_) return !has_links && replace(name);
  ::unlinkat(directory_, name_.c_str(), 0);
  return true;
}

}  // namespace detail

CDI_INLINE bool is_temporary_name(std::string_view name) {
  return detail::temporary_target(name).has_value();
}

CDI_INLINE void remove_temporaries_of(int directory, std::string_view name) {
  constexpr std::size_t max = 100'000;
  const auto own = detail::temporary_name(name, 0);  // contains only part of a long name
  const auto target = detail::temporary_target(own);
  const auto is_of_name = [&](std::string_view other) {
    return detail::temporary_target(other) == target;
  };
  const auto listing = detail::list_directory(directory, "", is_of_name, max);
  if (!listing) return;
  for (const auto& entry : listing->entries) {
    const auto abandoned = detail::open_abandoned(directory, entry.name);
    if (abandoned) ::unlinkat(directory, entry.name.c_str(), 0);
  }
}

}  // namespace cdi

#endif  // CDI_FILES_TEMPORARY_INL
