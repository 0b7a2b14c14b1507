// Which owner a file of a spec directory belongs to, and whether a publisher may change it.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PUBLISH_FILE_OWNERSHIP_HPP
#define CDI_PUBLISH_FILE_OWNERSHIP_HPP

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
#include <cdi/files/find_member.hpp>
#include <cdi/publish/owner_record.hpp>
#include <cdi/publish/publication.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Which owner a file belongs to, as one owner sees it.
enum class FileOwnership : std::uint8_t {
  absent,      // the file does not exist
  own,         // it records this owner
  other,       // it records another owner
  unrecorded,  // it is a spec, perhaps not a valid one, that records no owner
  not_a_spec,  // it is empty, cut off, or neither JSON nor YAML
  link,        // it is a symbolic link, unless it leads to a file of another owner or of none
  special,     // it is a directory, FIFO, device or socket
};

/// What a publisher may do with a file.
struct OwnershipRow {
  FileOwnership ownership;
  bool replaceable;
  bool removable;
  std::string_view why_not;  // which operation is refused
};

inline constexpr OwnershipRow ownership_rows[] = {
    {FileOwnership::absent, true, true, ""},
    {FileOwnership::own, true, true, ""},
    {FileOwnership::other, false, false, "the file records owner "},
    {FileOwnership::unrecorded, false, false, "the file is a spec that records no owner"},
    {FileOwnership::not_a_spec, true, false, "the file is not a spec, and records no owner"},
    {FileOwnership::link, true, false,
     "the file is a symbolic link, which a publisher never creates"},
    {FileOwnership::special, false, false, "not a regular file"},
};

constexpr const OwnershipRow& ownership_row(FileOwnership ownership) {
  return ownership_rows[static_cast<std::size_t>(ownership)];
}

/// A file of a directory, and the owner that it belongs to.
struct FoundFile {
  FileOwnership ownership = FileOwnership::absent;
  std::string owner{};  // the recorded one
  std::string text{};
  mode_t mode = 0;
  bool is_link = false;        // to the file with the text
  std::optional<Error> why{};  // the text could not be parsed
};

/// The spec files of one owner in a directory.
struct OwnerDir {
  int directory = -1;  // its descriptor; negative when it is missing
  const std::string& path;
  const std::string& owner;
};

/// The path of a file in a directory.
inline std::string path_in(const std::string& dir, const std::string& name) {
  return dir + (dir.ends_with('/') ? "" : "/") + name;
}

/// Whether an object is the beginning of a spec, which another process may be writing.
inline bool looks_like_spec(const Document::Value& value) {
  return detail::find_member(value, "cdiVersion") || detail::find_member(value, "kind") ||
         detail::find_member(value, "devices");
}

/// A comment in a file that is JSON by its name: the file neither has nor lacks an owner.
inline Error owner_in_json_comment(std::string_view path, std::string_view owner) {
  return {.code = Errc::conflict,
          .message = "a comment in the first line records owner " + cdi::quoted(owner) +
                     ", but JSON files have no comments",
          .advice =
              "rename the file to end in .yaml, or "
              "remove it by hand",
          .position = {.file = std::string{path}}};
}

/// Finds the owner of a text that cannot be parsed. A record of any other owner counts. Else a
/// comment makes the file this owner's; an annotation alone is not trusted: the file may be
/// replaced but not removed.
inline void find_named_owner(FoundFile& found, std::string_view path, std::string_view owner,
                             Error why) {
  const bool is_json = format_of(path) == Format::json;
  const auto commented = is_json ? std::string_view{} : owner_in_comment(found.text);
  const auto named = owners_named_in(found.text, owner);
  // A key that is written twice, and the tag !!binary: other programs read such a file.
  const bool may_be_spec = why.code == Errc::schema || why.code == Errc::unsupported;
  found.why = std::move(why);
  found.owner = !named.other.empty() || commented == owner ? named.other : commented;
  if (!found.owner.empty()) {
    found.ownership = FileOwnership::other;
  } else if (commented == owner) {
    found.ownership = FileOwnership::own;
  } else {
    found.ownership =
        may_be_spec && !named.any ? FileOwnership::unrecorded : FileOwnership::not_a_spec;
  }
}

/// Finds the owner of a text, even if its spec is not valid or of a release not yet known.
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
  found.ownership = FileOwnership::not_a_spec;
  const bool is_map = document->root().kind() == Document::Kind::map;
  if (is_map) found.owner = owner_in_annotations(document->root());
  if (found.owner.empty()) {
    const auto commented = owner_in_comment(found.text);
    const bool is_json = format_of(path) == Format::json;
    if (is_json && commented == owner && is_map) return owner_in_json_comment(path, owner);
    if (!is_json) found.owner = commented;
  }
  if (!found.owner.empty()) {
    found.ownership = found.owner == owner ? FileOwnership::own : FileOwnership::other;
  } else if (is_map && looks_like_spec(document->root())) {
    found.ownership = FileOwnership::unrecorded;
  }
  return {};
}

/// Reads a file that was a regular one before it is opened, and may be replaced meanwhile.
inline Result<FoundFile> read_regular_file(int directory, const std::string& name,
                                           const std::string& path, bool is_link) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (is_link ? 0 : O_NOFOLLOW);
  const Descriptor file{::openat(directory, name.c_str(), flags)};
  if (!file && errno == ENOENT) {
    return FoundFile{.ownership = is_link ? FileOwnership::link : FileOwnership::absent};
  }
  if (!file) return file_error(path, "cannot open the file");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return file_error(path, "cannot stat the file");
  if (!S_ISREG(info.st_mode)) {
    return FoundFile{.ownership = is_link ? FileOwnership::link : FileOwnership::special};
  }
  auto text = cdi::read_all(file.get(), path, Limits{}.bytes);
  if (!text) return std::move(text).error();
  return FoundFile{.ownership = FileOwnership::not_a_spec,
                   .text = std::move(*text),
                   .mode = info.st_mode & 07777,
                   .is_link = is_link};
}

/// Reads a file of a directory once: a regular file, or a link to one, has its text, and is
/// `not_a_spec` until `read_owner` is asked. Never waits for the other side of a FIFO, and opens no
/// device.
inline Result<FoundFile> read_found_file(const OwnerDir& dir, const std::string& name) {
  struct stat info = {};
  if (dir.directory < 0) return FoundFile{};
  const auto path = path_in(dir.path, name);
  if (::fstatat(dir.directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return FoundFile{};
    return file_error(path, "cannot stat the file");
  }
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link && ::fstatat(dir.directory, name.c_str(), &info, 0) != 0) {
    if (errno == ENOENT || errno == ELOOP) return FoundFile{.ownership = FileOwnership::link};
    return file_error(path, "cannot stat the target of the link");
  }
  if (!S_ISREG(info.st_mode)) {
    return FoundFile{.ownership = is_link ? FileOwnership::link : FileOwnership::special};
  }
  return detail::read_regular_file(dir.directory, name, path, is_link);
}

/// Reads a file of a directory and finds its owner. A file with the text `expected`, which records
/// the owner, needs no parsing.
inline Result<FoundFile> find_owner(const OwnerDir& dir, const std::string& name,
                                    std::string_view expected = {}) {
  auto found = read_found_file(dir, name);
  if (!found || found->ownership != FileOwnership::not_a_spec) return found;
  if (!expected.empty() && found->text == expected) {
    found->ownership = FileOwnership::own;
  } else if (auto read = read_owner(*found, path_in(dir.path, name), dir.owner); !read) {
    return std::move(read).error();
  }
  const bool replaceable = ownership_row(found->ownership).replaceable;
  if (found->is_link && replaceable) found->ownership = FileOwnership::link;
  return found;
}

/// Whether a file belongs to this owner. Most files of a directory do not, and do not even contain
/// the name of the annotation, which is also in the comment: they are read, but not parsed. An
/// error if the file cannot be parsed, and does not name another owner.
inline Result<bool> is_own_file(const OwnerDir& dir, const std::string& name) {
  auto found = read_found_file(dir, name);
  if (!found) return std::move(found).error();
  if (found->ownership != FileOwnership::not_a_spec || found->is_link) return false;
  const bool may_record = found->text.find(owner_annotation) != std::string::npos ||
                          found->text.starts_with(former_comment);
  if (!may_record) return false;
  auto read = read_owner(*found, path_in(dir.path, name), dir.owner);
  if (!read) return std::move(read).error();
  if (found->ownership == FileOwnership::not_a_spec && found->why) return *std::move(found->why);
  return found->ownership == FileOwnership::own;
}

/// The error for a file that this owner may not replace or remove. `advice` is another way.
inline Error ownership_conflict(const FoundFile& found, std::string path, std::string_view advice) {
  const bool other = found.ownership == FileOwnership::other;
  Error error{.code = Errc::conflict, .position = {.file = std::move(path)}};
  error.message = ownership_row(found.ownership).why_not;
  if (other) error.message.append(cdi::quoted(found.owner));
  error.advice = std::string{advice} + (other ? "remove it as that owner" : "remove it by hand");
  return error;
}

inline Result<void> check_replaceable(const FoundFile& found, std::string path,
                                      Replace replace = Replace::own) {
  const bool allowed = replace == Replace::any && found.ownership != FileOwnership::special;
  if (allowed || ownership_row(found.ownership).replaceable) return {};
  return ownership_conflict(found, std::move(path), "choose another name, or ");
}

/// Refuses to remove a file that does not certainly belong to this owner.
inline Result<void> check_removable(const FoundFile& found, std::string path) {
  if (ownership_row(found.ownership).removable) return {};
  return ownership_conflict(found, std::move(path), "");
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_PUBLISH_FILE_OWNERSHIP_HPP
