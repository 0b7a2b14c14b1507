// Writes the files of a node as a tar archive.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_RECORD_TAR_WRITER_HPP
#define CDI_TOOLS_PREPARE_RECORD_TAR_WRITER_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tar_entry.hpp"

namespace prepare {

namespace tar {

/// A header that is being filled in.
class Header {
 public:
  void set(const Field& place, std::string_view text) {
    std::copy_n(text.begin(), std::min(text.size(), place.size),
                bytes_.begin() + static_cast<std::ptrdiff_t>(place.offset));
  }

  void set_number(const Field& place, std::uint64_t number) {
    set(place, fmt::format("{:0{}o}", number, place.size - 1));
  }

  std::string text() {
    set(field::magic, "ustar");
    set({field::magic.offset + field::magic.size, 2}, "00");
    set_number(field::time, 0);  // the same node gives the same archive
    set(field::sum, fmt::format("{:06o}", checksum(bytes_.data())));
    return {bytes_.data(), bytes_.size()};
  }

 private:
  std::array<char, block_size> bytes_{};
};

/// A record of a pax header: its own size, a key and a value.
inline std::string pax_record(std::string_view key, std::string_view value) {
  const auto rest = fmt::format(" {}={}\n", key, value);
  auto size = rest.size();
  while (std::to_string(size).size() + rest.size() != size) {
    size = std::to_string(size).size() + rest.size();
  }
  return std::to_string(size) + rest;
}

inline void append_padded(std::string& out, std::string_view text) {
  out.append(text).append(padded(text.size()) - text.size(), '\0');
}

/// A pax header with what the next header has no room for.
inline void append_pax(std::string& out, char letter, const std::string& records) {
  if (records.empty()) return;
  Header header;
  header.set(field::name, letter == 'g' ? "pax_global_header" : "pax_header");
  header.set_number(field::mode, 0644);
  header.set_number(field::uid, 0);
  header.set_number(field::gid, 0);
  header.set_number(field::size, records.size());
  header.set(field::type, std::string_view{&letter, 1});
  out += header.text();
  append_padded(out, records);
}

inline char letter_of(TarEntry::Type wanted) {
  for (const auto& known : letters) {
    if (known.type == wanted) return known.letter;
  }
  return '0';
}

/// Adds an entry, with a pax header if it needs one.
inline void append_entry(std::string& out, const std::string& path, const TarEntry& entry) {
  constexpr std::uint32_t largest = 07777777;
  const bool is_directory = entry.type == TarEntry::Type::directory;
  const auto shown = path.substr(1) + (is_directory ? "/" : "");
  std::string records;
  if (shown.size() > field::name.size) records += pax_record("path", shown);
  if (entry.target.size() > field::target.size) records += pax_record("linkpath", entry.target);
  if (entry.uid > largest) records += pax_record("uid", std::to_string(entry.uid));
  if (entry.gid > largest) records += pax_record("gid", std::to_string(entry.gid));
  append_pax(out, 'x', records);
  Header header;
  header.set(field::name, shown);
  header.set_number(field::mode, entry.mode & 07777U);
  header.set_number(field::uid, std::min(entry.uid, largest));
  header.set_number(field::gid, std::min(entry.gid, largest));
  header.set_number(field::size, entry.text.size());
  const char letter = letter_of(entry.type);
  header.set(field::type, std::string_view{&letter, 1});
  header.set(field::target, entry.target);
  header.set_number(field::major, entry.major);
  header.set_number(field::minor, entry.minor);
  out += header.text();
  append_padded(out, entry.text);
}

}  // namespace tar

/// The archive, with a comment for people.
inline std::string write_tar(const TarEntries& entries, std::string_view comment) {
  std::string out;
  tar::append_pax(out, 'g', tar::pax_record("comment", comment));
  for (const auto& [path, entry] : entries) tar::append_entry(out, path, entry);
  out.append(2 * tar::block_size, '\0');
  return out;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_RECORD_TAR_WRITER_HPP
