// Reads a spec file into a spec or a rejection, and retries while a program may be writing it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_FILE_STATE_HPP
#define CDI_FILES_FILE_STATE_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The kinds of the devices that a program requests.
class RequestedKinds {
 public:
  /// Takes the kind of each name: the text before the first `=`, which need not be a valid kind.
  explicit RequestedKinds(Names names) {
    names.each([&](std::string_view name) { add(name.substr(0, name.find('='))); });
  }

  /// Returns false if a search of its bytes shows that a text is not a spec of one of the kinds.
  /// This is cheaper than parsing. With more than 8 kinds, the result is always true.
  ///
  /// A kind contains neither blanks nor quotes. JSON and YAML can therefore express a kind only by
  /// its own adjacent bytes, because a line break in a scalar becomes a blank or a line break in
  /// the value. Any other spelling requires a backslash escape, a tag, which begins with an
  /// exclamation mark, or UTF-16, which has a NUL byte for each ASCII character.
  bool can_be_in(std::string_view text) const {
    if (kinds_.size() > max) return true;
    for (const auto& kind : kinds_) {
      if (text.find(kind) != text.npos) return true;
    }
    for (const char other : {'\\', '!', '\0'}) {
      if (!kinds_.empty() && text.find(other) != text.npos) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t max = 8;  // searching for more kinds costs as much as parsing

  void add(std::string_view kind) {
    if (kinds_.size() > max) return;
    for (const auto& known : kinds_) {
      if (known == kind) return;
    }
    kinds_.emplace_back(kind);
  }

  std::vector<std::string> kinds_{};
};

/// Waits at least this long, despite signals. Including <thread> would be expensive.
inline void sleep_for(std::chrono::nanoseconds time) {
  using Seconds = std::chrono::duration<time_t>;
  using Rest = std::chrono::duration<long, std::nano>;
  if (time.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<Seconds>(time);
  timespec left{.tv_sec = seconds.count(),
                .tv_nsec = std::chrono::duration_cast<Rest>(time - seconds).count()};
  while (::nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

/// Waits briefly while a program may still be writing a file. Returns false when no time is left.
struct RetryWindow {
  explicit RetryWindow(std::chrono::milliseconds max)
      : end{std::chrono::steady_clock::now() + (max < longest ? max : longest)} {}

  bool operator()() const {
    constexpr std::chrono::milliseconds step{2};
    if (std::chrono::steady_clock::now() + step > end) return false;
    detail::sleep_for(step);
    return true;
  }

  static constexpr std::chrono::milliseconds longest{std::chrono::hours{1}};
  std::chrono::steady_clock::time_point end;
};

/// A spec file as it was read. It holds a spec or the reason for rejection, or neither if the file
/// was skipped because it cannot contain a requested kind.
struct FileState {
  std::shared_ptr<const LoadedSpec> spec{};
  std::shared_ptr<const RejectedFile> rejected{};
  Signature signature{};
  bool stable = false;          // see `is_stable`; if false, every scan opens the file
  std::uint64_t text_hash = 0;  // hash of the bytes, to skip parsing; 0 with `ScanMode::once`
};

/// Makes the error for a path that `format_of` does not recognise.
inline Error no_spec_name(std::string_view path) {
  return {.code = Errc::invalid,
          .message = "the name of a spec file must end in .json or .yaml",
          .position = {.file = std::string{path}}};
}

inline FileState rejected_file(RejectedFile why) {
  return {.rejected = std::make_shared<const RejectedFile>(std::move(why))};
}

/// The location of a spec file, and the priority of its directory.
struct SpecFilePlace {
  int directory;            // an open descriptor or `AT_FDCWD`
  const std::string& name;  // relative to `directory`
  const std::string& path;  // shown in messages
  int priority = 0;
};

/// How a scan treats its files.
struct ScanMode {
  /// Skips a file that cannot contain these kinds, unless a process may still be writing the file.
  const RequestedKinds* requested = nullptr;
  bool once = false;  // whether no later scan compares the bytes
};

inline FileAccess access_of(const TextFile& file) {
  return {.owner = file.owner,
          .group = file.group,
          .mode = static_cast<std::uint32_t>(file.signature.mode & 07777)};
}

/// Returns whether a spec, if any, was read with this access, which can change without the bytes.
inline bool has_access(const std::shared_ptr<const LoadedSpec>& spec, const FileAccess& access) {
  return spec == nullptr || spec->access == access;
}

/// The result of one attempt to read a spec file.
struct ReadAttempt {
  FileState file{};
  bool may_pass = false;  // whether the error may pass: a program may still be writing the file
};

/// Returns the maximum size of a file in bytes: see `Limits::bytes`.
inline std::size_t max_bytes(const Limits& limits) {
  constexpr std::size_t max = (std::size_t{512} << 20) - 1;
  return limits.bytes < max ? limits.bytes : max;
}

/// Describes a file that could not be read. While this process runs as the same user, the signature
/// alone decides whether the file is too large or denied: the file is reopened only when its
/// signature changes.
inline ReadAttempt unread_file(Error why, const TextFile& text) {
  const bool changing = why.system == EAGAIN;
  const bool by_signature = why.code == Errc::limit || why.code == Errc::denied;
  ReadAttempt out{.file = rejected_file({.why = std::move(why)}), .may_pass = changing};
  if (by_signature) {
    out.file.signature = text.signature;
    out.file.stable = text.stable;
  }
  return out;
}

/// Returns the positions of a spec's members in its file; null if the file now contains another
/// spec.
inline std::unique_ptr<const MemberPositions> positions_in_file(const LoadedSpec& spec,
                                                                const std::string& /*text*/) {
  TextFile file;
  const auto done = detail::read_file_into(file, AT_FDCWD, spec.path, spec.path,
                                           detail::max_bytes({}), /*reject_writable=*/false);
  return done ? detail::positions_in_text(spec, file.text) : nullptr;
}

/// Reads a spec file once. `before` is its state after the previous read: identical bytes are not
/// parsed again unless the owner, the group or the mode has changed.
inline ReadAttempt read_spec_once(const SpecFilePlace& place, const ReadOptions& options,
                                  const FileState& before, const ScanMode& mode) {
  const auto format = format_of(place.name);
  if (!format) return {.file = rejected_file({.why = detail::no_spec_name(place.path)})};
  TextFile text;
  auto done = detail::read_file_into(text, place.directory, place.name, place.path,
                                     detail::max_bytes(options.limits), options.reject_writable);
  if (!done) return unread_file(std::move(done).error(), text);
  const bool recent = text.age < options.retry_window.count();
  if (mode.requested != nullptr && !recent && !mode.requested->can_be_in(text.text)) return {};
  const FileAccess access = detail::access_of(text);
  FileState out{.signature = text.signature, .stable = text.stable};
  if (!mode.once) out.text_hash = detail::hash_bytes(text.text);
  const bool was_read = before.signature.inode != 0 && !mode.once;
  if (was_read && before.signature.size == out.signature.size &&
      before.text_hash == out.text_hash && detail::has_access(before.spec, access)) {
    out.spec = before.spec;
    out.rejected = before.rejected;
    return {.file = std::move(out)};
  }
  auto read = detail::spec_of_text(std::move(text.text), place.path, *format, options);
  if (!read.spec) {
    out.rejected = std::make_shared<const RejectedFile>(std::move(read.rejected));
    return {.file = std::move(out), .may_pass = recent};
  }
  read.spec->priority = place.priority;
  read.spec->access = access;
  read.spec->lazy_positions = std::make_shared<PositionsOfText>(detail::positions_in_file);
  out.spec = std::make_shared<LoadedSpec>(*std::move(read.spec));
  return {.file = std::move(out)};
}

/// Reads a spec file, and reads it again while a program is probably writing it and `wait()`
/// returns true. The other parameters are the same as for `read_spec_once`.
template <class Wait>
FileState read_spec_at(const SpecFilePlace& place, const ReadOptions& options,
                       const FileState& before, const Wait& wait, const ScanMode& mode = {}) {
  for (;;) {
    auto attempt = detail::read_spec_once(place, options, before, mode);
    if (!attempt.may_pass || !wait()) return std::move(attempt.file);
  }
}

}  // namespace cdi::detail

#endif  // CDI_FILES_FILE_STATE_HPP
