// Reads the files of a node from a tar archive, which anyone may have made.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_RECORD_TAR_READER_HPP
#define CDI_TOOLS_PREPARE_RECORD_TAR_READER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "tar_entry.hpp"

// Reads ustar, pax, and the long names of GNU tar, so that an archive may be unpacked, looked
// through and packed again. All is checked before any file is made.

namespace prepare {

namespace tar {

inline cdi::Error invalid(std::string message, std::string advice = {}) {
  return {.code = cdi::Errc::invalid, .message = std::move(message), .advice = std::move(advice)};
}

inline cdi::Error too_much(std::string message) {
  return {.code = cdi::Errc::limit, .message = std::move(message)};
}

inline std::string_view text_of(std::string_view header, const Field& place) {
  const auto text = header.substr(place.offset, place.size);
  return text.substr(0, text.find('\0'));
}

/// An octal number; nullopt for any other text, such as the binary numbers of GNU tar.
inline std::optional<std::uint64_t> number_of(std::string_view header, const Field& place) {
  const auto text = tools::trim(text_of(header, place));
  return text.empty() ? std::uint64_t{0} : tools::parse_number<std::uint64_t>(text, 8);
}

/// Why no archive begins with these bytes.
inline cdi::Error not_an_archive(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> compressed[] = {
      {"\x1f\x8b", "gunzip"},
      {"\xfd"
       "7zXZ",
       "unxz"},
      {"\x28\xb5\x2f\xfd", "unzstd"},
      {"BZh", "bunzip2"}};
  for (const auto& [begin, program] : compressed) {
    if (text.starts_with(begin)) {
      return invalid("the archive is compressed", fmt::format("first run {}", program));
    }
  }
  return invalid("this is neither a directory nor a tar archive");
}

/// What pax headers and long names of GNU tar say about the next entry.
struct Overrides {
  std::optional<std::string> path{};
  std::optional<std::string> target{};
  std::optional<std::uint32_t> uid{};
  std::optional<std::uint32_t> gid{};
};

/// Reads the records of a pax header.
inline cdi::Result<void> read_pax(std::string_view records, Overrides& out) {
  while (!records.empty()) {
    const auto space = records.find(' ');
    const auto size = tools::parse_number<std::size_t>(records.substr(0, space));
    if (space == records.npos || !size || *size > records.size() || *size < space + 2 ||
        records[*size - 1] != '\n') {
      return invalid("a pax header is damaged");
    }
    const auto record = records.substr(space + 1, *size - space - 2);
    records.remove_prefix(*size);
    const auto equals = record.find('=');
    if (equals == record.npos) return invalid("a pax header is damaged");
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1);
    if (key == "path") out.path = value;
    if (key == "linkpath") out.target = value;
    if (key == "uid") out.uid = tools::parse_number<std::uint32_t>(value);
    if (key == "gid") out.gid = tools::parse_number<std::uint32_t>(value);
    if (key == "size" || key.starts_with("GNU.sparse.")) {
      return invalid(
          fmt::format("a file has the pax record {}, which no node needs", cdi::quoted(key)));
    }
  }
  return {};
}

/// The path in an archive as a path on the node; "/" for the top directory.
inline cdi::Result<std::string> path_on_node(std::string_view name) {
  if (name.size() > longest_path) {
    return too_much(fmt::format("a path has more than {} bytes", longest_path));
  }
  std::string out;
  for (const auto& part : tools::split(name, "/")) {
    if (part == ".") continue;
    if (part == ".." || part.find('\0') != part.npos) {
      return invalid(fmt::format("{} is not a path that a node can have", cdi::quoted(name)));
    }
    if (part.size() > longest_name) {
      return too_much(fmt::format("a name has more than {} bytes", longest_name));
    }
    out.append("/").append(part);
  }
  return out.empty() ? "/" : out;
}

/// Reads an archive from memory.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  cdi::Result<TarEntries> run() {
    while (true) {
      const auto header = next(block_size);
      if (!header) return truncated();
      if (header->find_first_not_of('\0') == header->npos) break;
      if (auto read = read_entry(*header); !read) return std::move(read).error();
    }
    if (entries_.empty()) return invalid("the archive is empty");
    if (auto good = check_parents(); !good) return std::move(good).error();
    return std::move(entries_);
  }

 private:
  static cdi::Error truncated() { return invalid("the archive ends too early"); }

  /// The next bytes; nullopt if the archive has fewer.
  std::optional<std::string_view> next(std::size_t size) {
    if (text_.size() - at_ < size) return std::nullopt;
    return text_.substr(std::exchange(at_, at_ + size), size);
  }

  cdi::Result<void> read_entry(std::string_view header) {
    if (number_of(header, field::sum) != checksum(header.data())) {
      return at_ == block_size ? not_an_archive(text_) : invalid("a header is damaged");
    }
    const auto size = number_of(header, field::size);
    const char letter = header[field::type.offset];
    const bool has_text = letter == '0' || letter == '\0' || letter == 'x' || letter == 'g' ||
                          letter == 'L' || letter == 'K';
    if (!size || (has_text && *size > most_bytes)) {
      return too_much(fmt::format("{} is larger than the archive can be",
                                  cdi::quoted(text_of(header, field::name))));
    }
    const auto text = next(has_text ? padded(*size) : 0);
    if (!text) return truncated();
    return use(header, letter, text->substr(0, has_text ? *size : 0));
  }

  cdi::Result<void> use(std::string_view header, char letter, std::string_view text) {
    switch (letter) {
      case 'g': return {};  // comments
      case 'x': return read_pax(text, overrides_);
      case 'L': overrides_.path = text.substr(0, text.find('\0')); return {};
      case 'K': overrides_.target = text.substr(0, text.find('\0')); return {};
      default: break;
    }
    const auto overrides = std::exchange(overrides_, {});
    auto name = overrides.path.value_or(std::string{text_of(header, field::name)});
    const auto before = text_of(header, field::prefix);
    const bool is_ustar =
        header.substr(field::magic.offset, field::magic.size) == std::string_view{"ustar", 6};
    if (!overrides.path && is_ustar && !before.empty()) name.insert(0, std::string{before} + "/");
    auto path = path_on_node(name);
    if (!path) return std::move(path).error();
    auto entry = parse(header, letter, *path, overrides);
    if (!entry) return std::move(entry).error();
    entry->text = text;
    return add(std::move(*path), std::move(*entry));
  }

  /// The entry of a header.
  static cdi::Result<TarEntry> parse(std::string_view header, char letter, const std::string& path,
                                     const Overrides& overrides) {
    TarEntry entry;
    bool is_known = letter == '\0';  // a file, before POSIX
    for (const auto& known : letters) {
      if (letter != known.letter) continue;
      entry.type = known.type;
      is_known = true;
    }
    if (!is_known) {
      return invalid(fmt::format("{} has the type {}, which no node needs", cdi::quoted(path),
                                 cdi::quoted(std::string_view{&letter, 1})));
    }
    const auto number = [&](const Field& place, std::optional<std::uint32_t> instead = {}) {
      return instead.value_or(static_cast<std::uint32_t>(number_of(header, place).value_or(0)));
    };
    entry.mode = number(field::mode) & 0777U;
    entry.uid = number(field::uid, overrides.uid);
    entry.gid = number(field::gid, overrides.gid);
    if (entry.is_node() && path.find_first_of(" \t\r\n") != path.npos) {
      return invalid(
          fmt::format("the device node {} has white space in its path", cdi::quoted(path)));
    }
    if (entry.is_node()) {
      entry.major = number(field::major);
      entry.minor = number(field::minor);
    }
    if (entry.type != TarEntry::Type::link) return entry;
    entry.target = overrides.target.value_or(std::string{text_of(header, field::target)});
    const bool is_good = !entry.target.empty() && entry.target.size() <= longest_path &&
                         entry.target.find('\0') == std::string::npos;
    if (is_good) return entry;
    return invalid(
        fmt::format("the link {} has no target that a link can have", cdi::quoted(path)));
  }

  cdi::Result<void> add(std::string path, TarEntry entry) {
    if (path == "/") {
      if (entry.type == TarEntry::Type::directory) return {};
      return invalid("the archive has a file in the place of /");
    }
    if (entries_.size() >= most_entries) {
      return too_much(fmt::format("the archive has more than {} files", most_entries));
    }
    if (entries_.contains(path)) {
      return invalid(fmt::format("{} is in the archive twice", cdi::quoted(path)));
    }
    entries_.emplace(std::move(path), std::move(entry));
    return {};
  }

  /// Fails if a file is below a link or another file, where it could be made elsewhere, or if the
  /// files are in too many directories, which need not be in the archive.
  cdi::Result<void> check_parents() const {
    std::unordered_set<std::string_view> checked;
    for (const auto& item : entries_) {
      const std::string_view path = item.first;
      auto end = path.rfind('/');
      while (end > 0 && checked.insert(path.substr(0, end)).second) {
        const auto above = entries_.find(std::string{path.substr(0, end)});
        if (above != entries_.end() && above->second.type != TarEntry::Type::directory) {
          return invalid(fmt::format("{} is below {}, which is not a directory", cdi::quoted(path),
                                     cdi::quoted(above->first)));
        }
        end = path.rfind('/', end - 1);
      }
      if (checked.size() > most_entries) {
        return too_much(fmt::format("the archive has more than {} directories", most_entries));
      }
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Overrides overrides_{};
  TarEntries entries_{};
};

}  // namespace tar

/// Reads an archive. An error if it is damaged, too large, or has what the files of a node cannot
/// have: a path twice or with `..`, a file below a link, a hard link, a sparse file.
inline cdi::Result<TarEntries> read_tar(std::string_view text) {
  if (text.size() < tar::block_size) return tar::not_an_archive(text);
  return tar::Reader{text}.run();
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_RECORD_TAR_READER_HPP
