// What a spec file contained when it was read: a spec, or why it is rejected; and its signature.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_FILE_STATE_HPP
#define CDI_FILES_FILE_STATE_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A spec file as it was read: with a spec, or with the reason why it is rejected.
struct FileState {
  std::shared_ptr<const LoadedSpec> spec{};
  std::shared_ptr<const RejectedFile> rejected{};
  Signature signature{};
  bool settled = false;       // see `is_settled`; never if the file could not be read
  std::size_t text_hash = 0;  // the same bytes are not parsed again
};

/// The error for a path that `format_of` does not know.
inline Error no_spec_name(std::string_view path) {
  return {.code = Errc::invalid,
          .message = "the name of a spec file must end in .json or .yaml",
          .position = {.file = std::string{path}}};
}

inline FileState rejected_file(RejectedFile why) {
  return {.rejected = std::make_shared<const RejectedFile>(std::move(why))};
}

/// Reads a spec file once. `before` is its state at the last time: the same bytes are not parsed
/// again. `passing` becomes true if the error may pass in a moment.
inline FileState read_spec_once(int directory, const std::string& name, const std::string& path,
                                int priority, const ReadOptions& options, const FileState& before,
                                bool& passing) {
  const auto format = format_of(name);
  if (!format) return rejected_file({.why = detail::no_spec_name(path)});
  auto file =
      cdi::read_file_at(directory, name, path, options.limits.bytes, options.refuse_writable);
  if (!file) {
    passing = file.error().system == EAGAIN;
    return rejected_file({.why = std::move(file).error()});
  }
  FileState out{.signature = file->signature,
                .settled = file->settled,
                .text_hash = std::hash<std::string_view>{}(file->text)};
  const bool was_read = before.signature.inode != 0;
  if (was_read && before.signature.size == out.signature.size &&
      before.text_hash == out.text_hash) {
    out.spec = before.spec;
    out.rejected = before.rejected;
    return out;
  }
  LoadedSpec loaded{.priority = priority};
  RejectedFile rejected;
  if (detail::read_text(file->text, path, *format, options, loaded, rejected)) {
    out.spec = std::make_shared<LoadedSpec>(std::move(loaded));
  } else {
    out.rejected = std::make_shared<const RejectedFile>(std::move(rejected));
    passing = file->age < options.patience.count();
  }
  return out;
}

/// Waits at least so long, despite signals. <thread> costs much to include.
inline void sleep_for(std::chrono::nanoseconds time) {
  using Seconds = std::chrono::duration<time_t>;
  using Rest = std::chrono::duration<long, std::nano>;
  if (time.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<Seconds>(time);
  timespec left{.tv_sec = seconds.count(),
                .tv_nsec = std::chrono::duration_cast<Rest>(time - seconds).count()};
  while (::nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

/// Waits a little, because a program may still write the file. False if there is no time left.
struct Patience {
  explicit Patience(std::chrono::milliseconds most)
      : end{std::chrono::steady_clock::now() + (most < longest ? most : longest)} {}

  bool operator()() const {
    constexpr std::chrono::milliseconds step{2};
    if (std::chrono::steady_clock::now() + step > end) return false;
    detail::sleep_for(step);
    return true;
  }

  static constexpr std::chrono::milliseconds longest{std::chrono::hours{1}};
  std::chrono::steady_clock::time_point end;
};

/// Reads a spec file, and again while a program probably writes it and `wait()` is true.
template <class Wait>
FileState read_spec_at(int directory, const std::string& name, const std::string& path,
                       int priority, const ReadOptions& options, const FileState& before,
                       const Wait& wait) {
  for (;;) {
    bool passing = false;
    auto file = detail::read_spec_once(directory, name, path, priority, options, before, passing);
    if (!passing || !wait()) return file;
  }
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_FILE_STATE_HPP
