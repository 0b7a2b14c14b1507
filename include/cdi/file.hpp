// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILE_HPP
#define CDI_FILE_HPP

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/document.hpp>
#include <cdi/host.hpp>
#include <cdi/json.hpp>
#include <cdi/read.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/rules.hpp>
#include <cdi/spec.hpp>
#include <cdi/validate.hpp>
#include <cdi/version.hpp>
#include <cdi/yaml.hpp>

namespace cdi::inline CDI_ABI {

/// The text formats of a spec file, told by the end of its name.
enum class Format : std::uint8_t { json, yaml };

/// The format of a file name: `.json` or `.yaml`, in this case only, as in the CDI document.
inline std::optional<Format> format_of(std::string_view path) {
  if (path.ends_with(".json")) return Format::json;
  if (path.ends_with(".yaml")) return Format::yaml;
  return std::nullopt;
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// What `errno` says of an action on a file: `PATH: cannot open the file: No such file or
/// directory`.
inline Error file_error(std::string_view path, std::string_view action) {
  const int number = errno;  // before anything else can change it
  Error error = detail::system_error(Errc::system, std::string{action}, number);
  error.position.file = path;
  return error;
}

/// Reads an open file to its end, or refuses it when there are more than `limit` bytes. `path` is
/// for messages.
inline Result<std::string> read_all(int descriptor, std::string_view path, std::size_t limit) {
  std::string text;
  char block[16384];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "cannot read the file");
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error{.code = Errc::limit,
                   .message = "the file has more than " + std::to_string(limit) + " bytes",
                   .position = {.file = std::string{path}}};
    }
  }
}

namespace detail {

/// `openat`, for names that hold NUL too: the system would open what stands before it.
inline int open_at(int directory, const std::string& name, int flags) {
  if (name.find('\0') != std::string::npos) {
    errno = EINVAL;
    return -1;
  }
  return ::openat(directory, name.c_str(), flags);
}

/// Reads the regular file `name` of a directory (`AT_FDCWD`: the current one). Opens once, checks
/// what was opened, and never waits for the other side of a FIFO. `path` is for messages.
inline Result<std::string> read_text_at(int directory, const std::string& name,
                                        std::string_view path, std::size_t limit) {
  const auto not_regular = [&](mode_t mode) {
    return Error{.code = Errc::system,
                 .message = "not a regular file",
                 .position = {.file = std::string{path}},
                 .system = S_ISDIR(mode) ? EISDIR : EINVAL};
  };
  struct stat info = {};
  // Looked at first, since opening some devices does something; what counts is what was opened.
  if (::fstatat(directory, name.c_str(), &info, 0) == 0 && !S_ISREG(info.st_mode)) {
    return not_regular(info.st_mode);
  }
  const Descriptor file{open_at(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!file) return file_error(path, "cannot open the file");
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot look at the file");
  if (!S_ISREG(info.st_mode)) return not_regular(info.st_mode);
  return cdi::read_all(file.get(), path, limit);
}

inline Result<Document> parse_text(std::string_view text, std::string_view path, Format format,
                                   const Limits& limits, std::vector<Error>& warnings) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string_view::npos && text[first] == '{';
  if (format == Format::yaml && !braces) return cdi::parse_yaml(text, path, limits);
  auto json = cdi::parse_json(text, path, limits);
  if (json || json.error().code != Errc::syntax) return json;
  auto yaml = cdi::parse_yaml(text, path, limits);
  if (format == Format::yaml) return yaml;
  // One line of rubbish is a YAML scalar: what is no map was never meant as YAML.
  if (!yaml || yaml->root().kind() != Document::Kind::map) return json;
  warnings.push_back(std::move(json).error());
  warnings.back().message.append("; read as YAML");
  warnings.back().rule = row_of(Rule::json_syntax).code;
  return yaml;
}

}  // namespace detail

/// Reads a spec from text and validates it; `path` names it in messages. JSON that is not valid is
/// tried as YAML, as the Go reference does, and gets a warning. Errors and warnings carry line and
/// column.
inline Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path, Format format,
                                     const Limits& limits = {}) {
  LoadedSpec loaded{.path = std::string{path}};
  const auto document = detail::parse_text(text, path, format, limits, loaded.warnings);
  if (!document) return document.error();
  auto spec = cdi::read<Spec>(*document);
  if (!spec) return spec.error();
  const auto before = loaded.warnings.size();
  if (auto valid = cdi::validate(*spec, &loaded.warnings); !valid) {
    valid.error().position = document->locate(valid.error().where);
    return std::move(valid).error();
  }
  for (auto i = before; i < loaded.warnings.size(); ++i) {
    loaded.warnings[i].position = document->locate(loaded.warnings[i].where);
  }
  loaded.spec = std::move(*spec);
  return loaded;
}

namespace detail {

inline Result<LoadedSpec> read_spec_at(int directory, const std::string& name,
                                       const std::string& path, const Limits& limits) {
  const auto format = format_of(path);
  if (!format) {
    return Error{.code = Errc::invalid,
                 .message = "the name of a spec file ends in .json or .yaml",
                 .position = {.file = path}};
  }
  const auto text = detail::read_text_at(directory, name, path, limits.bytes);
  if (!text) return text.error();
  return cdi::parse_spec(*text, path, *format, limits);
}

}  // namespace detail

/// Reads one spec file and validates it. Links are followed; what is not a regular file is refused.
inline Result<LoadedSpec> read_spec_file(const std::string& path, const Limits& limits = {}) {
  return detail::read_spec_at(AT_FDCWD, path, path, limits);
}

/// Reads a regular file of at most `limit` bytes.
inline Result<std::string> read_file(const std::string& path, std::size_t limit = Limits{}.bytes) {
  return detail::read_text_at(AT_FDCWD, path, path, limit);
}

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

/// Makes a new file with a name of its own beside `name`; no directory scan takes it for a spec.
inline Descriptor make_temporary(int directory, std::string_view name, std::string& made) {
  static constexpr int tries = 1000;
  for (int i = 0; i < tries; ++i) {
    made = std::string{"."}.append(name.substr(0, 200)).append(".");
    made.append(std::to_string(::getpid())).append("-").append(std::to_string(i)).append(".tmp");
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    Descriptor file{::openat(directory, made.c_str(), flags, S_IRUSR | S_IWUSR)};
    if (file || errno != EEXIST) return file;
  }
  return Descriptor{-1};
}

}  // namespace detail

/// Replaces the text of a file, or makes it, so that a crash at any moment leaves the old text or
/// the new one, whole: a temporary file in the same directory gets its mode, is written and synced,
/// renamed over the target, and the directory is synced. A link at `path` is replaced, not
/// followed.
/// Owner and group are the caller's, unless given.
inline Result<void> replace_file(const std::string& path, std::string_view text, mode_t mode = 0644,
                                 uid_t owner = static_cast<uid_t>(-1),
                                 gid_t group = static_cast<gid_t>(-1)) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const bool no_file = name.empty() || name == "." || name == "..";
  const bool too_long = name.size() > NAME_MAX;
  if (no_file || too_long || path.find('\0') != std::string::npos) {
    return Error{.code = Errc::system,
                 .message = no_file    ? "the path names no file"
                            : too_long ? "the name of the file is too long"
                                       : "the path holds NUL",
                 .position = {.file = path},
                 .system = too_long ? ENAMETOOLONG : EINVAL};
  }
  const Descriptor directory{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return file_error(path, "cannot open the directory");
  std::string temporary;
  const auto file = detail::make_temporary(directory.get(), name, temporary);
  if (!file) return file_error(path, "cannot make a temporary file beside it");

  std::string_view failed;
  const bool give_away = owner != static_cast<uid_t>(-1) || group != static_cast<gid_t>(-1);
  if (give_away && ::fchown(file.get(), owner, group) != 0) {
    failed = "cannot set owner and group";
  } else if (::fchmod(file.get(), mode) != 0) {
    failed = "cannot set the mode";
  } else if (!detail::write_all(file.get(), text)) {
    failed = "cannot write";
  } else if (::fsync(file.get()) != 0) {
    failed = "cannot sync";
  } else if (::renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) != 0) {
    failed = "cannot rename the temporary file";
  }
  if (!failed.empty()) {
    Error error = file_error(path, failed);
    ::unlinkat(directory.get(), temporary.c_str(), 0);
    return error;
  }
  // Some file systems cannot sync directories, and say so with EINVAL.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) {
    return file_error(path, "the file is written, but its directory cannot be synced");
  }
  return {};
}

/// A spec as the text of a file, in either format. Fails when the spec is not valid.
inline Result<std::string> write_spec(const Spec& spec, Format format) {
  if (auto valid = cdi::validate(spec); !valid) return std::move(valid).error();
  if (format == Format::yaml) return cdi::write_yaml(spec);
  auto text = cdi::write_json(spec);
  if (text) text->append("\n");
  return text;
}

/// Writes a spec to a file ending in `.json` or `.yaml`, crash-safe as `replace_file`, with mode
/// 0644 whatever the umask: every runtime must be able to read it. The directory must exist. An
/// invalid spec is refused and nothing is written.
inline Result<void> write_spec_file(const std::string& path, const Spec& spec) {
  const auto format = format_of(path);
  if (!format) {
    return Error{.code = Errc::invalid,
                 .message = "the name of a spec file ends in .json or .yaml",
                 .position = {.file = path}};
  }
  auto text = cdi::write_spec(spec, *format);
  if (!text) {
    text.error().position.file = path;
    return std::move(text).error();
  }
  return cdi::replace_file(path, *text);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_FILE_HPP
