// Opens, creates and lists directories, even while other processes change them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_DIRECTORY_HPP
#define CDI_FILES_DIRECTORY_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// An entry of a directory.
struct DirectoryEntry {
  std::string name{};
  unsigned char type = DT_UNKNOWN;  // as `readdir` reports it: unknown on some file systems
};

/// The contents of a directory.
struct Listing {
  std::vector<DirectoryEntry> entries{};  // sorted by name, without duplicates
  Signature signature{};                  // the directory's signature just before the listing
  bool cut = false;                       // whether there are more entries than requested
};

/// Returns for each entry eight bytes of its name, after the beginning that all names share, as a
/// number with the same order. Comparing these first is faster than comparing the names.
inline std::vector<std::uint64_t> name_keys(const std::vector<DirectoryEntry>& entries) {
  std::string_view shared;
  if (!entries.empty()) shared = entries[0].name;
  for (const auto& entry : entries) {
    while (!entry.name.starts_with(shared)) shared.remove_suffix(1);
  }
  std::vector<std::uint64_t> keys;
  keys.reserve(entries.size());
  for (const auto& entry : entries) {
    const std::string_view rest = std::string_view{entry.name}.substr(shared.size());
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < sizeof key; ++i) {
      key = key << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0);
    }
    keys.push_back(key);
  }
  return keys;
}

/// Sorts the entries by name and removes duplicates.
inline void sort_by_name(std::vector<DirectoryEntry>& entries) {
  std::vector<DirectoryEntry> sorted;
  sorted.reserve(entries.size());
  const auto keys = detail::name_keys(entries);
  const auto by_name = order_of(entries.size(), [&](std::size_t a, std::size_t b) {
    return keys[a] != keys[b] ? keys[a] < keys[b] : entries[a].name < entries[b].name;
  });
  for (const auto i : by_name) {
    const bool again = !sorted.empty() && sorted.back().name == entries[i].name;
    if (!again) sorted.push_back(std::move(entries[i]));
  }
  entries.swap(sorted);
}

/// Reads the remaining entries with the wanted names, at most `max` + 1 entries. Returns false on
/// failure, with the reason in `errno`.
template <class Wanted>
bool read_entries(DIR* stream, const Wanted& wanted, std::size_t max,
                  std::vector<DirectoryEntry>& entries) {
  entries.clear();
  errno = 0;
  while (const dirent* entry = entries.size() > max ? nullptr : ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (wanted(name)) entries.push_back({.name = std::string{name}, .type = entry->d_type});
    errno = 0;
  }
  return errno == 0;
}

/// An open directory with a listing offset. Movable, not copyable.
class DirectoryStream {
 public:
  /// Takes ownership of the result of `opendir` or `fdopendir`; null means no directory.
  explicit DirectoryStream(DIR* stream) : stream_{stream} {}
  DirectoryStream(DirectoryStream&& other) noexcept
      : stream_{std::exchange(other.stream_, nullptr)} {}
  DirectoryStream(const DirectoryStream&) = delete;
  DirectoryStream& operator=(const DirectoryStream&) = delete;
  ~DirectoryStream() {
    if (stream_ != nullptr) ::closedir(stream_);
  }

  explicit operator bool() const { return stream_ != nullptr; }
  /// Returns the directory's descriptor, which remains owned.
  int descriptor() const { return ::dirfd(stream_); }

  /// Lists the entries with the wanted names, at most `max` + 1 entries. Call this function only
  /// once. `readdir` may repeat or omit names while the directory changes; the directory is then
  /// listed again, up to three times. `path` appears in messages.
  template <class Wanted>
  Result<Listing> list(const std::string& path, const Wanted& wanted, std::size_t max) const {
    static constexpr int max_tries = 4;
    Listing out;
    struct stat info = {};
    bool listed = ::fstat(descriptor(), &info) == 0;
    for (int i = 0; listed && i < max_tries && out.signature != signature_of(info); ++i) {
      if (i > 0) ::rewinddir(stream_);
      out.signature = signature_of(info);
      listed = detail::read_entries(stream_, wanted, max, out.entries) &&
               ::fstat(descriptor(), &info) == 0;
    }
    if (!listed) return file_error(path, "cannot list the directory");
    out.cut = out.entries.size() > max;
    detail::sort_by_name(out.entries);
    return out;
  }

 private:
  DIR* stream_;
};

/// Opens a directory for listing. On failure, the result is empty and `errno` contains the reason.
inline DirectoryStream open_directory(const std::string& path) {
  errno = EINVAL;  // for a name with a NUL byte
  return DirectoryStream{path.find('\0') == path.npos ? ::opendir(path.c_str()) : nullptr};
}

/// Lists a directory that the caller has opened: see `DirectoryStream::list`.
template <class Wanted>
Result<Listing> list_directory(int directory, const std::string& path, const Wanted& wanted,
                               std::size_t max) {
  // Reopening provides a separate offset. Without search permission, the caller's offset is shared.
  Descriptor own{::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const bool shared = !own;
  if (shared) own = Descriptor{::fcntl(directory, F_DUPFD_CLOEXEC, 0)};
  DIR* const opened = own ? ::fdopendir(own.get()) : nullptr;
  if (opened == nullptr) return file_error(path, "cannot list the directory");
  static_cast<void>(own.release());  // the stream closes it
  const DirectoryStream stream{opened};
  if (shared) ::rewinddir(opened);
  return stream.list(path, wanted, max);
}

/// Creates a directory in another one, with a mode whatever the umask, which belongs to all threads
/// and so stays as it is. A process that is killed meanwhile may leave a directory with the rights
/// that its umask allows. Returns false on failure, with the reason in `errno`. It is not a failure
/// if another process has just created the directory.
inline bool make_directory(int above, const std::string& name, mode_t mode) {
  if (::mkdirat(above, name.c_str(), mode) != 0) return errno == EEXIST;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const Descriptor made{::openat(above, name.c_str(), flags | O_NOFOLLOW)};
  struct stat info = {};
  if (!made || ::fstat(made.get(), &info) != 0) return false;
  if ((info.st_mode & 0777) != mode && ::fchmod(made.get(), mode) != 0) return false;
  // A directory that cannot be read may still allow creation; it is not synced.
  const Descriptor synced{::openat(above, ".", flags)};
  if (synced) ::fsync(synced.get());
  return true;
}

/// Opens a directory. If the directory is missing, creates it and its missing parents with a mode,
/// whatever the umask.
inline Result<Descriptor> open_or_make_directory(const std::string& path, mode_t mode = 0755) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Descriptor directory{::open(path.c_str(), flags)};
  if (directory) return directory;
  if (errno != ENOENT) return file_error(path, "cannot open the directory");
  std::string_view given{path};
  while (given.ends_with('/')) given.remove_suffix(1);
  const auto slash = given.rfind('/');
  const std::string name{given.substr(slash + 1)};  // all of it without a slash
  const auto parent = slash == given.npos ? "." : slash == 0 ? "/" : given.substr(0, slash);
  const auto above = open_or_make_directory(std::string{parent}, mode);
  if (!above) return above.error();
  if (!make_directory(above->get(), name, mode)) {
    return file_error(path, "cannot create the directory");
  }
  directory = Descriptor{::openat(above->get(), name.c_str(), flags)};
  if (!directory) return file_error(path, "cannot open the directory");
  return directory;
}

}  // namespace cdi::detail

#endif  // CDI_FILES_DIRECTORY_HPP
