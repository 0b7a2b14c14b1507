// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

// A library for LD_PRELOAD that makes some system calls fail. FAULT_CALLS lists the kinds of calls
// that fail, separated by spaces; one in FAULT_ONE_IN calls fails; FAULT_SEED chooses which. The
// same values make the same calls of a program fail, if it has only one thread.
//
// Kinds: open read write stat rename unlink mkdir sync mode lock list random; `short` for calls
// that read or write less than requested, `twice` for listings that return every name twice.

#undef _FILE_OFFSET_BITS  // else `open` and `open64` have one name
#undef _FORTIFY_SOURCE

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

/// A kind of calls, and the errors that they fail with.
struct Kind {
  std::string_view name;
  std::array<int, 5> errors;
};

constexpr Kind open_calls{"open", {EIO, EMFILE, ENFILE, ENOMEM, EACCES}};
constexpr Kind read_calls{"read", {EIO, EINTR, ENOMEM, EISDIR, EINTR}};
constexpr Kind write_calls{"write", {EIO, ENOSPC, EINTR, EDQUOT, EINTR}};
constexpr Kind stat_calls{"stat", {EIO, ENOMEM, EACCES, EIO, EACCES}};
constexpr Kind rename_calls{"rename", {EIO, ENOSPC, EROFS, EACCES, EDQUOT}};
constexpr Kind unlink_calls{"unlink", {EIO, EROFS, EACCES, EBUSY, EPERM}};
constexpr Kind mkdir_calls{"mkdir", {EIO, ENOSPC, EROFS, EACCES, EDQUOT}};
constexpr Kind sync_calls{"sync", {EIO, ENOSPC, EDQUOT, EROFS, EIO}};
constexpr Kind mode_calls{"mode", {EIO, EPERM, EROFS, ENOSPC, EACCES}};
constexpr Kind lock_calls{"lock", {EINTR, ENOLCK, EWOULDBLOCK, EINTR, EINTR}};
constexpr Kind list_calls{"list", {EIO, ENOMEM, EIO, ENOMEM, EIO}};
constexpr Kind random_calls{"random", {EAGAIN, ENOSYS, EINTR, EAGAIN, ENOSYS}};
constexpr Kind notify_calls{"notify", {ENOSPC, ENOMEM, EMFILE, ENOSPC, EMFILE}};
constexpr Kind short_calls{"short", {1, 1, 1, 1, 1}};

std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

/// Whether FAULT_CALLS contains a kind.
bool is_chosen(std::string_view kind) {
  const char* const chosen = std::getenv("FAULT_CALLS");
  if (chosen == nullptr) return false;
  for (std::string_view rest = chosen; !rest.empty();) {
    const auto end = rest.find(' ');
    if (rest.substr(0, end) == kind) return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

/// The next number of a random sequence, which depends only on the seed: splitmix64.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> state{number_in("FAULT_SEED")};
  std::uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Whether a call fails this time; if so, sets `errno`.
bool fails(const Kind& kind) {
  static const std::uint64_t one_in = number_in("FAULT_ONE_IN");
  const int before = errno;
  if (one_in == 0 || !is_chosen(kind.name)) return false;
  const auto number = next_number();
  errno = before;
  if (number % one_in != 0) return false;
  errno = kind.errors[(number >> 32) % kind.errors.size()];
  return true;
}

/// The function of the C library that a function of this file replaces.
template <class Function>
Function* real(Function* /*like*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// How many bytes a call transfers: sometimes not all.
std::size_t transferred(std::size_t size) {
  return size > 1 && fails(short_calls) ? 1 + size / 3 : size;
}

mode_t mode_argument(int flags, std::va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

/// The next entry of a listing, or, with `twice`, the last one again.
template <class Entry>
Entry* next_entry(Entry* (*read)(DIR*), DIR* directory) {
  alignas(Entry) static thread_local std::array<char, sizeof(Entry)> last;
  static thread_local const DIR* returned_once = nullptr;
  if (fails(list_calls)) return nullptr;
  if (returned_once == directory) {
    returned_once = nullptr;
    return reinterpret_cast<Entry*>(last.data());
  }
  Entry* const entry = read(directory);
  if (entry == nullptr || !is_chosen("twice")) return entry;
  std::memcpy(last.data(), entry, entry->d_reclen);
  returned_once = directory;
  return entry;
}

}  // namespace

// One line each: a function that does not fail makes the real call. On 64-bit machines, the
// functions that end in 64 are the same as those that do not.
#define CDI_PASS(kind, failure, name, ...)        \
  static auto* const call = real(&::name, #name); \
  return fails(kind) ? (failure) : call(__VA_ARGS__)

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_argument(flags, arguments);
  va_end(arguments);
  CDI_PASS(open_calls, -1, open, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_argument(flags, arguments);
  va_end(arguments);
  CDI_PASS(open_calls, -1, open, path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_argument(flags, arguments);
  va_end(arguments);
  CDI_PASS(open_calls, -1, openat, directory, path, flags, mode);
}
int openat64(int directory, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_argument(flags, arguments);
  va_end(arguments);
  CDI_PASS(open_calls, -1, openat, directory, path, flags, mode);
}
DIR* opendir(const char* path) {
  CDI_PASS(open_calls, nullptr, opendir, path);
}
DIR* fdopendir(int file) {
  CDI_PASS(open_calls, nullptr, fdopendir, file);
}

ssize_t read(int file, void* to, std::size_t size) {
  CDI_PASS(read_calls, -1, read, file, to, transferred(size));
}
// Writes to the standard streams do not fail, because the tests check the output.
ssize_t write(int file, const void* from, std::size_t size) {
  static auto* const call = real(&::write, "write");
  if (file <= STDERR_FILENO) return call(file, from, size);
  return fails(write_calls) ? -1 : call(file, from, transferred(size));
}

int stat(const char* path, struct stat* info) noexcept {
  CDI_PASS(stat_calls, -1, stat, path, info);
}
int stat64(const char* path, struct stat64* info) noexcept {
  CDI_PASS(stat_calls, -1, stat64, path, info);
}
int lstat(const char* path, struct stat* info) noexcept {
  CDI_PASS(stat_calls, -1, lstat, path, info);
}
int lstat64(const char* path, struct stat64* info) noexcept {
  CDI_PASS(stat_calls, -1, lstat64, path, info);
}
int fstat(int file, struct stat* info) noexcept {
  CDI_PASS(stat_calls, -1, fstat, file, info);
}
int fstat64(int file, struct stat64* info) noexcept {
  CDI_PASS(stat_calls, -1, fstat64, file, info);
}
int fstatat(int directory, const char* path, struct stat* info, int flags) noexcept {
  CDI_PASS(stat_calls, -1, fstatat, directory, path, info, flags);
}
int fstatat64(int directory, const char* path, struct stat64* info, int flags) noexcept {
  CDI_PASS(stat_calls, -1, fstatat64, directory, path, info, flags);
}

int rename(const char* from, const char* to) noexcept {
  CDI_PASS(rename_calls, -1, rename, from, to);
}
int renameat(int from_dir, const char* from, int to_dir, const char* to) noexcept {
  CDI_PASS(rename_calls, -1, renameat, from_dir, from, to_dir, to);
}
int renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned flags) noexcept {
  CDI_PASS(rename_calls, -1, renameat2, from_dir, from, to_dir, to, flags);
}
int unlink(const char* path) noexcept {
  CDI_PASS(unlink_calls, -1, unlink, path);
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  CDI_PASS(unlink_calls, -1, unlinkat, directory, path, flags);
}
int mkdir(const char* path, mode_t mode) noexcept {
  CDI_PASS(mkdir_calls, -1, mkdir, path, mode);
}
int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  CDI_PASS(mkdir_calls, -1, mkdirat, directory, path, mode);
}

int fsync(int file) {
  CDI_PASS(sync_calls, -1, fsync, file);
}
int fchmod(int file, mode_t mode) noexcept {
  CDI_PASS(mode_calls, -1, fchmod, file, mode);
}
int fchown(int file, uid_t owner, gid_t group) noexcept {
  CDI_PASS(mode_calls, -1, fchown, file, owner, group);
}
int flock(int file, int operation) noexcept {
  CDI_PASS(lock_calls, -1, flock, file, operation);
}
ssize_t getrandom(void* to, std::size_t size, unsigned flags) {
  CDI_PASS(random_calls, -1, getrandom, to, size, flags);
}
int inotify_init1(int flags) noexcept {
  CDI_PASS(notify_calls, -1, inotify_init1, flags);
}
int inotify_add_watch(int file, const char* path, std::uint32_t mask) noexcept {
  CDI_PASS(notify_calls, -1, inotify_add_watch, file, path, mask);
}

dirent* readdir(DIR* directory) {
  static auto* const call = real(&::readdir, "readdir");
  return next_entry(call, directory);
}
dirent64* readdir64(DIR* directory) {
  static auto* const call = real(&::readdir64, "readdir64");
  return next_entry(call, directory);
}

}  // extern "C"
