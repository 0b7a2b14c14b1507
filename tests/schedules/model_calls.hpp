// System calls of this program that go to `model::host`, if there is one. Include this once.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "model_host.hpp"

namespace model {

/// The function of the C library that a function of this file replaces.
template <class Function>
Function* real(Function* /*like*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The result of a call, from one that is negative for an error.
template <class Result>
Result answer(Result result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

inline bool is_ours(int file) {
  return host != nullptr && file >= ModelFiles::first_descriptor;
}

inline std::string shown(const char* path) {
  return path;
}
inline std::string shown(int file) {
  return std::to_string(file);
}

/// An open directory with its entries, which are read at once, as for a small directory.
struct ModelStream {
  int file;
  std::vector<std::pair<std::string, bool>> names{};
  bool listed = false;
  std::size_t next = 0;
  dirent entry{};
};

inline DIR* stream_of(int file) {
  return reinterpret_cast<DIR*>(new ModelStream{.file = file});
}

inline ModelStream& stream_at(DIR* stream) {
  return *reinterpret_cast<ModelStream*>(stream);
}

inline dirent* next_entry(ModelStream& stream) {
  if (!stream.listed) {
    if (!host->step(Effect::none, "list", shown(stream.file))) return errno = EIO, nullptr;
    stream.names = host->files.list(stream.file);
    stream.listed = true;
  }
  if (stream.next == stream.names.size()) return nullptr;
  const auto& [name, is_directory] = stream.names[stream.next++];
  std::memcpy(stream.entry.d_name, name.c_str(), name.size() + 1);
  stream.entry.d_type = is_directory ? DT_DIR : DT_REG;
  return &stream.entry;
}

inline Effect effect_of_open(int flags) {
  return (flags & (O_CREAT | O_TRUNC)) != 0 ? Effect::changes : Effect::none;
}

inline int close_file(int file) {
  const bool visible = host->files.has_lock(file);
  if (visible && !host->step(Effect::none, "unlock", shown(file))) return 0;
  host->files.close(file);
  return 0;
}

}  // namespace model

// A function with the name of a function of the C library, which `real_call` is. Its own name is
// another one, because <fcntl.h> may rename `open` to `open64`.
#define CDI_MODEL_CALL(result, name, parameters) \
  result model_##name parameters __asm__(#name); \
  result model_##name parameters

// A call that is one step.
#define CDI_MODEL_STEP(result, name, parameters, arguments, is_here, effect, shown_as, action) \
  CDI_MODEL_CALL(result, name, parameters) {                                                   \
    static auto* const real_call = model::real(&model_##name, #name);                          \
    if (!(is_here)) return real_call arguments;                                                \
    if (!model::host->step(effect, #name, shown_as)) return errno = EIO, -1;                   \
    return model::answer<result>(model::host->files.action);                                   \
  }

#define CDI_MODEL_OPEN(name)                                                                 \
  CDI_MODEL_STEP(int, name, (const char* path, int flags, mode_t mode), (path, flags, mode), \
                 model::host != nullptr, model::effect_of_open(flags), path,                 \
                 open(model::host->running, AT_FDCWD, path, flags, mode))
#define CDI_MODEL_OPENAT(name)                                                         \
  CDI_MODEL_STEP(int, name, (int directory, const char* path, int flags, mode_t mode), \
                 (directory, path, flags, mode), model::host != nullptr,               \
                 model::effect_of_open(flags), path,                                   \
                 open(model::host->running, directory, path, flags, mode))
#define CDI_MODEL_STAT(name)                                                     \
  CDI_MODEL_STEP(int, name, (const char* path, struct stat* info), (path, info), \
                 model::host != nullptr, model::Effect::none, path, stat(AT_FDCWD, path, info))
#define CDI_MODEL_FSTAT(name)                                                                  \
  CDI_MODEL_STEP(int, name, (int file, struct stat* info), (file, info), model::is_ours(file), \
                 model::Effect::none, model::shown(file), fstat(file, info))
#define CDI_MODEL_FSTATAT(name)                                                               \
  CDI_MODEL_STEP(int, name, (int directory, const char* path, struct stat* info, int flags),  \
                 (directory, path, info, flags), model::host != nullptr, model::Effect::none, \
                 path, stat(directory, path, info))
#define CDI_MODEL_READDIR(name)                                                  \
  CDI_MODEL_CALL(dirent*, name, (DIR * stream)) {                                \
    static auto* const real_call = model::real(&model_##name, #name);            \
    return model::host == nullptr ? real_call(stream)                            \
                                  : model::next_entry(model::stream_at(stream)); \
  }

CDI_MODEL_OPEN(open)
CDI_MODEL_OPEN(open64)
CDI_MODEL_OPENAT(openat)
CDI_MODEL_OPENAT(openat64)
CDI_MODEL_STAT(stat)
CDI_MODEL_STAT(stat64)
CDI_MODEL_STAT(lstat)
CDI_MODEL_STAT(lstat64)
CDI_MODEL_FSTAT(fstat)
CDI_MODEL_FSTAT(fstat64)
CDI_MODEL_FSTATAT(fstatat)
CDI_MODEL_FSTATAT(fstatat64)
CDI_MODEL_READDIR(readdir)
CDI_MODEL_READDIR(readdir64)

CDI_MODEL_STEP(ssize_t, read, (int file, void* to, std::size_t size), (file, to, size),
               model::is_ours(file), model::Effect::none, model::shown(file), read(file, to, size))
CDI_MODEL_STEP(ssize_t, write, (int file, const void* from, std::size_t size), (file, from, size),
               model::is_ours(file), model::Effect::changes, model::shown(file),
               write(file, from, size))
CDI_MODEL_STEP(int, renameat, (int from_dir, const char* from, int to_dir, const char* to),
               (from_dir, from, to_dir, to), model::host != nullptr, model::Effect::changes, to,
               rename(from_dir, from, to_dir, to, true))
CDI_MODEL_STEP(int, renameat2,
               (int from_dir, const char* from, int to_dir, const char* to, unsigned flags),
               (from_dir, from, to_dir, to, flags), model::host != nullptr, model::Effect::changes,
               to, rename(from_dir, from, to_dir, to, flags == 0))
CDI_MODEL_STEP(int, unlinkat, (int directory, const char* path, int flags),
               (directory, path, flags), model::host != nullptr, model::Effect::changes, path,
               unlink(directory, path))
CDI_MODEL_STEP(int, mkdirat, (int directory, const char* path, mode_t mode),
               (directory, path, mode), model::host != nullptr, model::Effect::changes, path,
               make_directory(directory, path, mode))
CDI_MODEL_STEP(int, faccessat, (int directory, const char* path, int mode, int flags),
               (directory, path, mode, flags), model::host != nullptr, model::Effect::none, path,
               access(directory, path))
// What _FORTIFY_SOURCE makes of the calls above.
CDI_MODEL_STEP(int, __openat_2, (int directory, const char* path, int flags),
               (directory, path, flags), model::host != nullptr, model::effect_of_open(flags), path,
               open(model::host->running, directory, path, flags, 0))
CDI_MODEL_STEP(int, __openat64_2, (int directory, const char* path, int flags),
               (directory, path, flags), model::host != nullptr, model::effect_of_open(flags), path,
               open(model::host->running, directory, path, flags, 0))
CDI_MODEL_STEP(int, __open_2, (const char* path, int flags), (path, flags), model::host != nullptr,
               model::effect_of_open(flags), path,
               open(model::host->running, AT_FDCWD, path, flags, 0))
CDI_MODEL_STEP(int, __open64_2, (const char* path, int flags), (path, flags),
               model::host != nullptr, model::effect_of_open(flags), path,
               open(model::host->running, AT_FDCWD, path, flags, 0))
CDI_MODEL_STEP(ssize_t, __read_chk, (int file, void* to, std::size_t size, std::size_t room),
               (file, to, size, room), model::is_ours(file), model::Effect::none,
               model::shown(file), read(file, to, size))

CDI_MODEL_STEP(int, fsync, (int file), (file), model::is_ours(file), model::Effect::syncs,
               model::shown(file), sync(file))
CDI_MODEL_STEP(int, fchmod, (int file, mode_t mode), (file, mode), model::is_ours(file),
               model::Effect::changes, model::shown(file), set_mode(file, mode))
CDI_MODEL_STEP(int, fchown, (int file, uid_t owner, gid_t group), (file, owner, group),
               model::is_ours(file), model::Effect::changes, model::shown(file), set_owner(file))
CDI_MODEL_STEP(int, flock, (int file, int operation), (file, operation), model::is_ours(file),
               model::Effect::none, model::shown(file), lock(file, operation))

CDI_MODEL_CALL(int, close, (int file)) {
  static auto* const real_call = model::real(&model_close, "close");
  return model::is_ours(file) ? model::close_file(file) : real_call(file);
}

// The library duplicates descriptors only.
CDI_MODEL_CALL(int, fcntl, (int file, int command, long argument)) {
  static auto* const real_call = model::real(&model_fcntl, "fcntl");
  if (!model::is_ours(file)) return real_call(file, command, argument);
  return model::answer(model::host->files.duplicate(model::host->running, file));
}
CDI_MODEL_CALL(int, fcntl64, (int file, int command, long argument)) {
  return model_fcntl(file, command, argument);
}

CDI_MODEL_CALL(DIR*, fdopendir, (int file)) {
  static auto* const real_call = model::real(&model_fdopendir, "fdopendir");
  return model::is_ours(file) ? model::stream_of(file) : real_call(file);
}

CDI_MODEL_CALL(DIR*, opendir, (const char* path)) {
  static auto* const real_call = model::real(&model_opendir, "opendir");
  if (model::host == nullptr) return real_call(path);
  const int file = model_open(path, O_RDONLY | O_DIRECTORY, 0);
  return file < 0 ? nullptr : model::stream_of(file);
}

CDI_MODEL_CALL(int, dirfd, (DIR * stream)) {
  static auto* const real_call = model::real(&model_dirfd, "dirfd");
  return model::host == nullptr ? real_call(stream) : model::stream_at(stream).file;
}

CDI_MODEL_CALL(void, rewinddir, (DIR * stream)) {
  static auto* const real_call = model::real(&model_rewinddir, "rewinddir");
  if (model::host == nullptr) return real_call(stream);
  model::stream_at(stream).listed = false;
  model::stream_at(stream).next = 0;
}

CDI_MODEL_CALL(int, closedir, (DIR * stream)) {
  static auto* const real_call = model::real(&model_closedir, "closedir");
  if (model::host == nullptr) return real_call(stream);
  model::close_file(model::stream_at(stream).file);
  delete &model::stream_at(stream);
  return 0;
}

// Paths in the model have no links.
CDI_MODEL_CALL(char*, realpath, (const char* path, char* to)) {
  static auto* const real_call = model::real(&model_realpath, "realpath");
  return model::host == nullptr ? real_call(path, to) : ::strdup(path);
}

CDI_MODEL_CALL(int, clock_gettime, (clockid_t clock, timespec* now)) {
  static auto* const real_call = model::real(&model_clock_gettime, "clock_gettime");
  if (model::host == nullptr) return real_call(clock, now);
  *now = {.tv_sec = model::host->files.clock / 1000,
          .tv_nsec = model::host->files.clock % 1000 * 1'000'000};
  return 0;
}

CDI_MODEL_CALL(int, nanosleep, (const timespec* time, timespec* left)) {
  static auto* const real_call = model::real(&model_nanosleep, "nanosleep");
  if (model::host == nullptr) return real_call(time, left);
  model::host->wait(time->tv_sec * 1000 + time->tv_nsec / 1'000'000);
  return 0;
}

// The same numbers each time, so that a schedule can be repeated.
CDI_MODEL_CALL(ssize_t, getrandom, (void* to, std::size_t size, unsigned flags)) {
  static auto* const real_call = model::real(&model_getrandom, "getrandom");
  if (model::host == nullptr) return real_call(to, size, flags);
  std::memset(to, 0, size);
  std::memcpy(to, &++model::host->random, sizeof model::host->random);
  return static_cast<ssize_t>(size);
}

CDI_MODEL_CALL(int, inotify_init1, (int flags)) {
  static auto* const real_call = model::real(&model_inotify_init1, "inotify_init1");
  return model::host == nullptr ? real_call(flags) : (errno = ENOSYS, -1);
}
