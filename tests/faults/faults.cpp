// A library for LD_PRELOAD that makes some system calls fail: calls at random, or one call.
//
// FAULT_CALLS lists the kinds of calls that fail, separated by spaces; one in FAULT_ONE_IN calls
// fails; FAULT_SEED chooses which. The same values make the same calls of a program fail, if it has
// only one thread. Kinds are the rows below, `short` for calls that read or write less than
// requested, and `twice` for listings that return every name twice.
//
// FAULT_KIND, FAULT_AT and FAULT_ERROR make one call fail: the one of this kind with this number,
// counted from 1, with this value of errno. FAULT_LOG names a file that gets a line for each call:
// its kind, and the errors of the kind. Programs that a program starts are not affected, nor are
// the calls of gRPC's libraries: without its threads, a server of gRPC neither serves nor ends.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <poll.h>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// A kind of calls, and the errors that they fail with: errors of the manual pages that a program
/// on a healthy kernel can meet.
struct Kind {
  std::string_view name;
  std::span<const int> errors;
  std::atomic<std::uint64_t> calls{0};
};

constexpr int open_errors[] = {EACCES, EDQUOT, EINTR,  EIO,     ELOOP, EMFILE, ENFILE, ENODEV,
                               ENOENT, ENOMEM, ENOSPC, ENOTDIR, ENXIO, EPERM,  EROFS};
constexpr int read_errors[] = {EINTR, EIO, EISDIR, ENOMEM};
constexpr int write_errors[] = {EDQUOT, EFBIG, EINTR, EIO, ENOSPC, EPERM};
constexpr int close_errors[] = {EDQUOT, EINTR, EIO, ENOSPC};
constexpr int stat_errors[] = {EACCES, EIO, ELOOP, ENOENT, ENOMEM, ENOTDIR};
constexpr int link_errors[] = {EACCES, EINVAL, EIO, ELOOP, ENOENT, ENOMEM, ENOTDIR};
constexpr int rename_errors[] = {EACCES, EBUSY, EDQUOT, EIO, ENOENT, ENOMEM, ENOSPC, EPERM, EROFS};
constexpr int unlink_errors[] = {EACCES, EBUSY, EIO, EISDIR, ENOENT, ENOMEM, EPERM, EROFS};
constexpr int make_errors[] = {EACCES, EDQUOT, EEXIST, EIO, ENOENT, ENOMEM, ENOSPC, EPERM, EROFS};
constexpr int sync_errors[] = {EDQUOT, EINTR, EIO, ENOSPC, EROFS};
constexpr int mode_errors[] = {EACCES, EIO, ENOMEM, ENOSPC, EPERM, EROFS};
constexpr int lock_errors[] = {EINTR, ENOLCK, EWOULDBLOCK};
constexpr int list_errors[] = {EIO, ENOENT, ENOMEM};
constexpr int random_errors[] = {EAGAIN, EINTR, ENOSYS};
constexpr int notify_errors[] = {EMFILE, ENOMEM, ENOSPC};
constexpr int process_errors[] = {EAGAIN, ENOMEM};
constexpr int start_errors[] = {E2BIG, EACCES, EIO, ENOENT, ENOMEM, ETXTBSY};
constexpr int descriptor_errors[] = {EMFILE, ENFILE, ENOMEM};
constexpr int bind_errors[] = {EACCES, EADDRINUSE, ENOENT, ENOMEM, EROFS};
constexpr int accept_errors[] = {ECONNABORTED, EINTR, EMFILE, ENFILE, ENOMEM};
constexpr int connect_errors[] = {EACCES, EAGAIN, ECONNREFUSED, ENOENT};
constexpr int receive_errors[] = {ECONNRESET, EINTR, ENOMEM};
constexpr int send_errors[] = {ECONNRESET, EINTR, ENOBUFS, ENOMEM, EPIPE};
constexpr int poll_errors[] = {EINTR, ENOMEM};
constexpr int any_errors[] = {1};

Kind open_calls{"open", open_errors};
Kind read_calls{"read", read_errors};
Kind write_calls{"write", write_errors};
Kind close_calls{"close", close_errors};
Kind stat_calls{"stat", stat_errors};
Kind link_calls{"readlink", link_errors};
Kind access_calls{"access", stat_errors};
Kind rename_calls{"rename", rename_errors};
Kind unlink_calls{"unlink", unlink_errors};
Kind mkdir_calls{"mkdir", make_errors};
Kind symlink_calls{"symlink", make_errors};
Kind sync_calls{"sync", sync_errors};
Kind mode_calls{"mode", mode_errors};
Kind lock_calls{"lock", lock_errors};
Kind list_calls{"list", list_errors};
Kind random_calls{"random", random_errors};
Kind notify_calls{"notify", notify_errors};
Kind process_calls{"process", process_errors};
Kind start_calls{"start", start_errors};
Kind descriptor_calls{"descriptor", descriptor_errors};
Kind bind_calls{"bind", bind_errors};
Kind accept_calls{"accept", accept_errors};
Kind connect_calls{"connect", connect_errors};
Kind receive_calls{"receive", receive_errors};
Kind send_calls{"send", send_errors};
Kind poll_calls{"poll", poll_errors};
Kind short_calls{"short", any_errors};

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

/// Writes a line about a call to the file that FAULT_LOG names.
void note(const Kind& kind) {
  static const char* const path = std::getenv("FAULT_LOG");
  static const long file =
      path == nullptr ? -1 : ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  std::string line{kind.name};
  for (const int error : kind.errors) line.append(" ").append(std::to_string(error));
  line.append("\n");
  ::syscall(SYS_write, file, line.data(), line.size());
}

/// Whether a call is the one that FAULT_KIND and FAULT_AT name; if so, sets `errno`.
bool is_the_one(Kind& kind) {
  static const char* const chosen = std::getenv("FAULT_KIND");
  static const std::uint64_t at = number_in("FAULT_AT");
  if (chosen == nullptr || kind.name != chosen || ++kind.calls != at) return false;
  errno = static_cast<int>(number_in("FAULT_ERROR"));
  return true;
}

/// Whether code is in a library of gRPC.
bool is_of_grpc(const void* code) {
  Dl_info info = {};
  if (::dladdr(code, &info) == 0) return false;
  const std::string_view path = info.dli_fname;
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libgrpc") || name.starts_with("libgpr");
}

/// Whether a call by `caller` fails this time; if so, sets `errno`.
bool fails_for(const void* caller, Kind& kind) {
  static const std::uint64_t one_in = number_in("FAULT_ONE_IN");
  const int before = errno;
  if (is_of_grpc(caller)) return false;
  note(kind);
  errno = before;
  if (is_the_one(kind)) return true;
  if (one_in == 0 || !is_chosen(kind.name)) return false;
  const auto number = next_number();
  errno = before;
  if (number % one_in != 0) return false;
  errno = kind.errors[(number >> 32) % kind.errors.size()];
  return true;
}

/// The same for the caller of the function that this is a part of.
[[gnu::always_inline]] inline bool fails(Kind& kind) {
  return fails_for(__builtin_return_address(0), kind);
}

/// The function of the C library that a function of this file replaces.
template <class Function>
Function* real(Function* /*like*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// How many bytes a call transfers: sometimes not all.
[[gnu::always_inline]] inline std::size_t transferred(std::size_t size) {
  return size > 1 && is_chosen("short") && fails(short_calls) ? 1 + size / 3 : size;
}

mode_t mode_argument(int flags, std::va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

/// The next entry of a listing, or, with `twice`, the last one again.
template <class Entry>
[[gnu::always_inline]] inline Entry* next_entry(Entry* (*read)(DIR*), DIR* directory) {
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

/// Whether a file is an eventfd or the like, to which each write succeeds.
bool has_no_type(int file) {
  struct stat info = {};
  return ::syscall(SYS_newfstatat, file, "", &info, AT_EMPTY_PATH) == 0 &&
         (info.st_mode & S_IFMT) == 0;
}

// Otherwise, the environment would pass the library on.
[[gnu::constructor]] void keep_children_whole() {
  ::unsetenv("LD_PRELOAD");
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
  if (file <= STDERR_FILENO || has_no_type(file)) return call(file, from, size);
  return fails(write_calls) ? -1 : call(file, from, transferred(size));
}

ssize_t pread64(int file, void* to, std::size_t size, off64_t at) {
  CDI_PASS(read_calls, -1, pread64, file, to, transferred(size), at);
}
// A descriptor is closed even if `close` fails.
int close(int file) {
  static auto* const call = real(&::close, "close");
  const int done = call(file);
  return fails(close_calls) ? -1 : done;
}
ssize_t readlink(const char* path, char* to, std::size_t size) noexcept {
  CDI_PASS(link_calls, -1, readlink, path, to, size);
}
ssize_t readlinkat(int directory, const char* path, char* to, std::size_t size) noexcept {
  CDI_PASS(link_calls, -1, readlinkat, directory, path, to, size);
}
char* realpath(const char* path, char* to) noexcept {
  CDI_PASS(link_calls, nullptr, realpath, path, to);
}
int access(const char* path, int mode) noexcept {
  CDI_PASS(access_calls, -1, access, path, mode);
}
int faccessat(int directory, const char* path, int mode, int flags) noexcept {
  CDI_PASS(access_calls, -1, faccessat, directory, path, mode, flags);
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
int symlinkat(const char* target, int directory, const char* path) noexcept {
  CDI_PASS(symlink_calls, -1, symlinkat, target, directory, path);
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
pid_t fork() noexcept {
  static auto* const call = real(&::fork, "fork");
  return fails(process_calls) ? -1 : call();
}
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                   void* argument) noexcept {
  static auto* const call = real(&::pthread_create, "pthread_create");
  return fails(process_calls) ? errno : call(thread, how, work, argument);
}
int execv(const char* path, char* const* arguments) noexcept {
  CDI_PASS(start_calls, -1, execv, path, arguments);
}
int pipe2(int* files, int flags) noexcept {
  CDI_PASS(descriptor_calls, -1, pipe2, files, flags);
}
int eventfd(unsigned number, int flags) noexcept {
  CDI_PASS(descriptor_calls, -1, eventfd, number, flags);
}
int signalfd(int file, const sigset_t* signals, int flags) noexcept {
  CDI_PASS(descriptor_calls, -1, signalfd, file, signals, flags);
}
int socket(int domain, int type, int protocol) noexcept {
  CDI_PASS(descriptor_calls, -1, socket, domain, type, protocol);
}
int bind(int file, const sockaddr* address, socklen_t size) noexcept {
  CDI_PASS(bind_calls, -1, bind, file, address, size);
}
int listen(int file, int most) noexcept {
  CDI_PASS(bind_calls, -1, listen, file, most);
}
int accept4(int file, sockaddr* address, socklen_t* size, int flags) {
  CDI_PASS(accept_calls, -1, accept4, file, address, size, flags);
}
int connect(int file, const sockaddr* address, socklen_t size) {
  CDI_PASS(connect_calls, -1, connect, file, address, size);
}
ssize_t recv(int file, void* to, std::size_t size, int flags) {
  CDI_PASS(receive_calls, -1, recv, file, to, size, flags);
}
ssize_t send(int file, const void* from, std::size_t size, int flags) {
  CDI_PASS(send_calls, -1, send, file, from, size, flags);
}
int poll(pollfd* files, nfds_t count, int milliseconds) {
  CDI_PASS(poll_calls, -1, poll, files, count, milliseconds);
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
