// `Ownership`: which owner a spec file belongs to, and whether a publisher may change the file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_OWNERSHIP_HPP
#define CDI_PUBLISH_OWNERSHIP_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/publish/owner_record.hpp>
#include <cdi/publish/publication.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The kinds of files, from the point of view of one owner.
enum class Ownership : std::uint8_t {
  absent,      // the file does not exist
  own,         // the file records this owner
  other,       // the file records another owner
  unrecorded,  // a spec, possibly invalid, that records no owner
  not_a_spec,  // an empty or truncated file, or neither JSON nor YAML
  link,        // a symbolic link, unless its target has another owner or none
  special,     // a directory, FIFO, device or socket
};

/// What a publisher may do with a file.
struct OwnershipRow {
  Ownership ownership;
  bool replaceable;
  bool removable;
  std::string_view why_not;  // the reason against an operation
};

inline constexpr OwnershipRow ownership_rows[] = {
    {Ownership::absent, true, true, ""},
    {Ownership::own, true, true, ""},
    {Ownership::other, false, false, "the file records owner "},
    {Ownership::unrecorded, false, false, "the file is a spec that records no owner"},
    {Ownership::not_a_spec, true, false, "the file is not a spec, and records no owner"},
    {Ownership::link, true, false, "the file is a symbolic link, which a publisher never creates"},
    {Ownership::special, false, false, "not a regular file"},
};

constexpr const OwnershipRow& ownership_row(Ownership ownership) {
  return ownership_rows[static_cast<std::size_t>(ownership)];
}

/// A file in a directory, with its owner.
struct FoundFile {
  Ownership ownership = Ownership::absent;
  std::string owner{};  // the recorded owner
  std::string text{};
  mode_t mode = 0;
  bool is_link = false;        // a link to the file with the text
  std::optional<Error> why{};  // why the text cannot be parsed
};

/// The spec files of one owner in a directory.
struct PublishDir {
  int directory = -1;  // a descriptor; negative when the directory is missing
  const std::string& path;
  const std::string& owner;
};

/// Returns the path of a file in a directory.
inline std::string path_in(const std::string& dir, const std::string& name) {
  return dir + (dir.ends_with('/') ? "" : "/") + name;
}

/// Returns whether an object may be an incomplete spec that another process is still writing.
inline bool looks_like_spec(const Document::Value& value) {
  return detail::find_member(value, "cdiVersion") || detail::find_member(value, "kind") ||
         detail::find_member(value, "devices");
}

/// Returns the error for a JSON file with an owner in a comment, which leaves the owner unclear.
inline Error owner_in_json_comment(std::string_view path, std::string_view owner) {
  return {.code = Errc::conflict,
          .message = "a comment in the first line records owner " + cdi::quoted(owner) +
                     ", but JSON files have no comments",
          .advice =
              "rename the file so that it ends in .yaml, or "
              "remove it by hand",
          .position = {.file = std::string{path}}};
}

/// Finds the owner of a text that cannot be parsed. A record of another owner wins. Otherwise, a
/// comment makes the file this owner's. An annotation alone is not trusted: the file may then be
/// replaced, but not removed.
inline void find_named_owner(FoundFile& found, std::string_view path, std::string_view owner,
                             Error why) {
  const bool is_json = format_of(path) == Format::json;
  const auto commented = is_json ? std::string_view{} : owner_in_comment(found.text);
  const auto named = owners_named_in(found.text, owner);
  // Other programs can read files with a repeated key or the tag !!binary.
  const bool may_be_spec = why.code == Errc::schema || why.code == Errc::unsupported;
  found.why = std::move(why);
  found.owner = !named.other.empty() || commented == owner ? named.other : commented;
  if (!found.owner.empty()) {
    found.ownership = Ownership::other;
  } else if (commented == owner) {
    found.ownership = Ownership::own;
  } else {
    found.ownership = may_be_spec && !named.any ? Ownership::unrecorded : Ownership::not_a_spec;
  }
}

/// Finds the owner of a text, even if the spec is invalid or its version is unknown.
inline Result<void> read_owner(FoundFile& found, std::string_view path, std::string_view owner) {
  auto document = cdi::parse_json(found.text, path);
  if (!document && document.error().code == Errc::syntax) {
    document = cdi::parse_yaml(found.text, path);
  }
  if (!document && document.error().code == Errc::limit) return std::move(document).error();
  if (!document) {
    find_named_owner(found, path, owner, std::move(document).error());
    return {};
  }
  found.ownership = Ownership::not_a_spec;
  const bool is_map = document->root().kind() == Document::Kind::map;
  if (is_map) found.owner = owner_in_annotations(document->root());
  if (found.owner.empty()) {
    const auto commented = owner_in_comment(found.text);
    const bool is_json = format_of(path) == Format::json;
    if (is_json && commented == owner && is_map) return owner_in_json_comment(path, owner);
    if (!is_json) found.owner = commented;
  }
  if (!found.owner.empty()) {
    found.ownership = found.owner == owner ? Ownership::own : Ownership::other;
  } else if (is_map && looks_like_spec(document->root())) {
    found.ownership = Ownership::unrecorded;
  }
  return {};
}

/// Reads a file that was regular before the call, and may since have been replaced.
inline Result<FoundFile> read_regular_file(int directory, const std::string& name,
                                           const std::string& path, bool is_link) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (is_link ? 0 : O_NOFOLLOW);
  const Descriptor file{::openat(directory, name.c_str(), flags)};
  if (!file && errno == ENOENT) {
    return FoundFile{.ownership = is_link ? Ownership::link : Ownership::absent};
  }
  if (!file) return file_error(path, "cannot open the file");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot stat the file");
  if (!S_ISREG(info.st_mode)) {
    return FoundFile{.ownership = is_link ? Ownership::link : Ownership::special};
  }
  auto text = cdi::read_all(file.get(), path, Limits{}.bytes);
  if (!text) return std::move(text).error();
  return FoundFile{.ownership = Ownership::not_a_spec,
                   .text = std::move(*text),
                   .mode = info.st_mode & 07777,
                   .is_link = is_link};
}

/// Reads a file in a directory once. A regular file, or a link to such a file, is returned with its
/// text, and stays `not_a_spec` until a call of `read_owner`. The call never waits for a FIFO's
/// other end, and opens no device.
inline Result<FoundFile> read_found_file(const PublishDir& dir, const std::string& name) {
  struct stat info = {};
  if (dir.directory < 0) return FoundFile{};
  const auto path = path_in(dir.path, name);
  if (::fstatat(dir.directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return FoundFile{};
    return file_error(path, "cannot stat the file");
  }
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link && ::fstatat(dir.directory, name.c_str(), &info, 0) != 0) {
    if (errno == ENOENT || errno == ELOOP) return FoundFile{.ownership = Ownership::link};
    return file_error(path, "cannot stat the target of the link");
  }
  if (!S_ISREG(info.st_mode)) {
    return FoundFile{.ownership = is_link ? Ownership::link : Ownership::special};
  }
  return detail::read_regular_file(dir.directory, name, path, is_link);
}

/// Reads a file in a directory and finds its owner. A file that equals `expected`, which records
/// the owner, is not parsed.
inline Result<FoundFile> find_owner(const PublishDir& dir, const std::string& name,
                                    std::string_view expected = {}) {
  auto found = read_found_file(dir, name);
  if (!found || found->ownership != Ownership::not_a_spec) return found;
  if (!expected.empty() && found->text == expected) {
    found->ownership = Ownership::own;
  } else if (auto read = read_owner(*found, path_in(dir.path, name), dir.owner); !read) {
    return std::move(read).error();
  }
  const bool replaceable = ownership_row(found->ownership).replaceable;
  if (found->is_link && replaceable) found->ownership = Ownership::link;
  return found;
}

/// Finds the owner as `find_owner` does. If the owner does not matter, a file that cannot be read
/// is not an error.
inline Result<FoundFile> find_owner_for(const PublishDir& dir, const std::string& name,
                                        Replace replace, std::string_view expected = {}) {
  auto found = find_owner(dir, name, expected);
  if (!found && replace == Replace::any) return FoundFile{.ownership = Ownership::not_a_spec};
  return found;
}

/// Returns whether a file belongs to this owner. Most files in a directory do not even contain the
/// annotation's name, which is also in the comment: such files are read, but not parsed. A file
/// that cannot be parsed, and records no other owner, is an error.
inline Result<bool> is_own_file(const PublishDir& dir, const std::string& name) {
  auto found = read_found_file(dir, name);
  if (!found) return std::move(found).error();
  if (found->ownership != Ownership::not_a_spec || found->is_link) return false;
  const bool may_record = found->text.find(owner_annotation) != std::string::npos ||
                          found->text.starts_with(former_comment);
  if (!may_record) return false;
  auto read = read_owner(*found, path_in(dir.path, name), dir.owner);
  if (!read) return std::move(read).error();
  if (found->ownership == Ownership::not_a_spec && found->why) return *std::move(found->why);
  return found->ownership == Ownership::own;
}

/// Returns the error for a file that this owner may not change. `advice` is an alternative.
inline Error ownership_conflict(const FoundFile& found, std::string path, std::string_view advice) {
  const bool other = found.ownership == Ownership::other;
  Error error{.code = Errc::conflict, .position = {.file = std::move(path)}};
  error.message = ownership_row(found.ownership).why_not;
  if (other) error.message.append(cdi::quoted(found.owner));
  error.advice = std::string{advice} + (other ? "remove it as that owner" : "remove it by hand");
  return error;
}

inline Result<void> check_replaceable(const FoundFile& found, std::string path,
                                      Replace replace = Replace::own) {
  const bool allowed = replace == Replace::any && found.ownership != Ownership::special;
  if (allowed || ownership_row(found.ownership).replaceable) return {};
  return ownership_conflict(found, std::move(path), "choose another name, or ");
}

/// Rejects the removal of a file unless the file certainly belongs to this owner, or the owner does
/// not matter.
inline Result<void> check_removable(const FoundFile& found, std::string path,
                                    Replace replace = Replace::own) {
  const bool allowed = replace == Replace::any && found.ownership != Ownership::special;
  if (allowed || ownership_row(found.ownership).removable) return {};
  return ownership_conflict(found, std::move(path), "");
}

}  // namespace cdi::detail

#endif  // CDI_PUBLISH_OWNERSHIP_HPP
