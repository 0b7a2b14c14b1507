// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILE_HPP
#define CDI_FILE_HPP

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

#include <cdi/descriptor.hpp>
#include <cdi/document.hpp>
#include <cdi/json_text.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/parse_json.hpp>
#include <cdi/parse_yaml.hpp>
#include <cdi/path.hpp>
#include <cdi/read.hpp>
#include <cdi/registry.hpp>
#include <cdi/replace_file.hpp>
#include <cdi/result.hpp>
#include <cdi/rules.hpp>
#include <cdi/salvage.hpp>
#include <cdi/signature.hpp>
#include <cdi/spec.hpp>
#include <cdi/text_file.hpp>
#include <cdi/validate.hpp>
#include <cdi/version.hpp>
#include <cdi/yaml.hpp>

namespace cdi::inline CDI_ABI {

/// How spec files are read, and what is asked of them.
struct ReadOptions {
  Limits limits{};              ///< of each file; over it is `Errc::limit`
  std::size_t files = 100'000;  ///< in one directory; one of more is refused, with `Errc::limit`
  /// Leaves a device out that is not valid, and keeps its siblings. Otherwise a file with one such
  /// device is refused whole, as the CDI document says. `LoadedSpec::quarantined` names it. A fault
  /// outside the devices, or in all of them, refuses the file all the same.
  bool quarantine_devices = false;
  /// Refuses files and directories that belong to neither root nor this user, or that others may
  /// write, with `Errc::refused`. Of a link, the file is judged that it leads to, not the directory
  /// of that file; of a file read on its own, no directory.
  bool refuse_writable = false;
  /// How long ago a file may have been changed to be read again when it is not valid: somebody may
  /// be writing it still. Waits this long at most, in all for the files of a call, and never more
  /// than an hour; not when 0.
  std::chrono::milliseconds patience{100};
  /// Goes on with what a file held before, when it has become one that cannot be read or is not
  /// valid, or its directory cannot be listed. Not what is gone, too large, or refused; nor a
  /// device that a valid file of the same directory provides. Only a `Cache` knows what was before.
  bool keep_last_good = true;
  /// Makes the digest of a file from the bytes that are parsed, such as `&cdi::sha256`; none when
  /// null. Called for valid files only, by whatever thread reads them.
  std::string (*digest)(std::string_view bytes) = nullptr;
};

namespace detail {

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

/// Reads a spec from a document and validates it. Errors and warnings get line and column.
inline bool read_document(const Document& document, LoadedSpec& out, RejectedFile& rejected) {
  Reading reading;
  auto spec = detail::read_noting<Spec>(document.root(), reading);
  if (!spec) {
    rejected.why = std::move(spec).error();
    return false;
  }
  std::vector<Error> warnings;
  if (auto valid = cdi::validate(*spec, &warnings); !valid) {
    rejected.why = std::move(valid).error();
    rejected.why.position = document.locate(rejected.why.where);
    if (rejected.why.rule == row_of(Rule::version_new_enough).code) {
      rejected.needs_version = to_string(minimum_version(*spec));
    }
    return false;
  }
  if (reading.odd_case) {
    out.warnings.push_back({.code = Errc::schema,
                            .message = "since 1.1.1 the Go reference refuses names of members in "
                                       "another case: write " +
                                       quoted(reading.field),
                            .where = std::string{reading.odd_case->text()},
                            .position = reading.odd_case->position(),
                            .rule = row_of(Rule::member_case).code});
  }
  for (auto& warning : warnings) {
    warning.position = document.locate(warning.where);
    out.warnings.push_back(std::move(warning));
  }
  out.spec = std::move(*spec);
  out.lines.reserve(out.spec.devices.size());
  for (const auto item : detail::find_member(document.root(), "devices")->items()) {
    out.lines.push_back(item.position().line);
  }
  return true;
}

/// Reads all of a spec, or, when they may be left out, all but its bad devices.
inline bool read_good_devices(const Document& document, bool quarantine, LoadedSpec& out,
                              RejectedFile& rejected) {
  if (detail::read_document(document, out, rejected)) return true;
  if (!quarantine) return false;
  const auto good = detail::leave_bad_devices_out(document, out.quarantined);
  if (!good) return false;
  rejected = {};
  return detail::read_document(*good, out, rejected);
}

/// Warns of what is not read of the text, and of what others do not read.
inline void warn_of_text(const Document& document, std::vector<Error>& warnings) {
  if (const auto rest = document.rest()) {
    warnings.push_back({.code = Errc::invalid,
                        .message = "only the first document of the file is read: put the others "
                                   "into files of their own",
                        .position = *rest,
                        .rule = row_of(Rule::single_document).code});
  }
  if (auto found = document.unportable()) {
    warnings.push_back({.code = Errc::invalid,
                        .message = std::move(found->reason),
                        .position = std::move(found->position),
                        .rule = row_of(Rule::portable_text).code});
  }
}

inline bool read_text(std::string_view text, std::string_view path, Format format,
                      const ReadOptions& options, LoadedSpec& out, RejectedFile& rejected) {
  out.path = path;
  const auto document = detail::parse_text(text, path, format, options.limits, out.warnings);
  if (document) detail::warn_of_text(*document, out.warnings);
  if (!document) {
    rejected.why = document.error();
    detail::tell_contents(text, rejected);
  } else if (read_good_devices(*document, options.quarantine_devices, out, rejected)) {
    if (options.digest != nullptr) out.digest = options.digest(text);
    return true;
  } else {
    detail::tell_contents(*document, rejected);
  }
  return false;
}

}  // namespace detail

/// Reads a spec from text and validates it; `path` names it in messages. JSON that is not valid is
/// tried as YAML, as the Go reference does, and gets a warning. Errors and warnings carry line and
/// column. Of `options`, the limits, the quarantine and the digest count.
///
/// `Errc::syntax` when it is neither JSON nor YAML, `Errc::schema` when it is no spec,
/// `Errc::invalid` and `Errc::invalid_name` when it breaks a rule, which `Error::rule` names,
/// `Errc::limit` when it is over a limit. SPEC.md, CDI JSON Definition.
inline Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path, Format format,
                                     const ReadOptions& options = {}) {
  LoadedSpec loaded;
  RejectedFile rejected;
  if (!detail::read_text(text, path, format, options, loaded, rejected)) return rejected.why;
  return loaded;
}

namespace detail {

/// A spec file as it was read: with a spec, or what can be told of a file that gives none.
struct FileState {
  std::shared_ptr<const LoadedSpec> spec{};
  std::shared_ptr<const RejectedFile> rejected{};
  Signature signature{};
  bool settled = false;       // see `is_settled`; never when the file could not be read
  std::size_t text_hash = 0;  // of its bytes, to tell a file that was written anew with the same
};

/// Of a path that `format_of` does not know.
inline Error no_spec_name(std::string_view path) {
  return {.code = Errc::invalid,
          .message = "the name of a spec file ends in .json or .yaml",
          .position = {.file = std::string{path}}};
}

inline FileState rejected_file(RejectedFile why) {
  return {.rejected = std::make_shared<const RejectedFile>(std::move(why))};
}

/// Reads a spec file once. `before` is how it was found the last time: the same bytes are not
/// parsed again. Whether it may be read again at once with another outcome goes to `passing`.
inline FileState read_spec_once(int directory, const std::string& name, const std::string& path,
                                int priority, const ReadOptions& options, const FileState& before,
                                bool& passing) {
  const auto format = format_of(name);
  if (!format) return rejected_file({.why = detail::no_spec_name(path)});
  auto file =
      detail::read_text_at(directory, name, path, options.limits.bytes, options.refuse_writable);
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

/// Waits at least so long, whatever interrupts it. Not that of <thread>, which is dear to include.
inline void sleep_for(std::chrono::nanoseconds time) {
  using Seconds = std::chrono::duration<time_t>;
  using Rest = std::chrono::duration<long, std::nano>;
  if (time.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<Seconds>(time);
  timespec left{.tv_sec = seconds.count(),
                .tv_nsec = std::chrono::duration_cast<Rest>(time - seconds).count()};
  while (::nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

/// Waits a little for somebody who may be writing a file. Whether there was time for it.
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

/// Reads a spec file, again while it is likely that somebody is writing it and `wait()` is true.
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

/// Reads one spec file and validates it. Links are followed; what is not a regular file is refused.
/// One that is not valid, and was changed a moment ago, is read again: see `ReadOptions::patience`.
///
/// Errors are those of `parse_spec`; `Errc::system` when it cannot be read, is no regular file, or
/// changes all the time; `Errc::refused` by `ReadOptions::refuse_writable`; `Errc::invalid` when
/// the name does not end in `.json` or `.yaml`.
inline Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options = {}) {
  const auto file = detail::read_spec_at(AT_FDCWD, path, path, 0, options, {},
                                         detail::Patience{options.patience});
  if (file.rejected) return file.rejected->why;
  return std::move(*std::const_pointer_cast<LoadedSpec>(file.spec));  // nobody else has it
}

/// A spec as the text of a file, in either format, with a newline at the end. `Errc::invalid` or
/// `Errc::invalid_name` when the spec is not valid to `Purpose::write`, or holds text that is not
/// UTF-8.
inline Result<std::string> write_spec(const Spec& spec, Format format) {
  auto valid = cdi::validate(spec, nullptr, Purpose::write);
  if (!valid) return std::move(valid).error();
  if (format == Format::yaml) return cdi::write_yaml(spec);
  auto text = cdi::write_json(spec);
  if (text) text->append("\n");
  return text;
}

/// Writes a spec to a file ending in `.json` or `.yaml`, crash-safe as `replace_file`, with mode
/// 0644 whatever the umask: every runtime must be able to read it. The directory must exist. An
/// invalid spec is refused and nothing is written. Errors are those of `write_spec` and of
/// `replace_file`; `Errc::invalid` when the path ends otherwise.
inline Result<void> write_spec_file(const std::string& path, const Spec& spec) {
  const auto format = format_of(path);
  if (!format) return detail::no_spec_name(path);
  auto text = cdi::write_spec(spec, *format);
  if (!text) {
    text.error().position.file = path;
    return std::move(text).error();
  }
  return cdi::replace_file(path, *text);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_FILE_HPP
