// The files of a node in a tar archive.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_RECORD_TAR_ENTRY_HPP
#define CDI_TOOLS_PREPARE_RECORD_TAR_ENTRY_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

// Own code for POSIX ustar with pax headers, because both ways need little of the format:
// libarchive would read a dozen more, in far more code, from files that users send each other.

namespace prepare {

/// A file of a node.
struct TarEntry {
  enum class Type : std::uint8_t { file, link, directory, character, block, socket };

  Type type = Type::file;
  std::uint32_t mode = 0;  // permission bits
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t major = 0;  // of a device node
  std::uint32_t minor = 0;
  std::string target{};  // of a link
  std::string text{};    // of a file

  bool is_node() const { return type == Type::character || type == Type::block; }
};

/// The files of a node by path: "/proc/devices".
using TarEntries = std::map<std::string, TarEntry>;

namespace tar {

inline constexpr std::size_t block_size = 512;
inline constexpr std::size_t most_bytes = 64U << 20;  // of an archive
inline constexpr std::size_t most_entries = 100'000;
inline constexpr std::size_t longest_path = 2000;  // a directory of this machine comes before it
inline constexpr std::size_t longest_name = 255;

/// A field of a header.
struct Field {
  std::size_t offset;
  std::size_t size;
};

namespace field {

inline constexpr Field name{0, 100};
inline constexpr Field mode{100, 8};
inline constexpr Field uid{108, 8};
inline constexpr Field gid{116, 8};
inline constexpr Field size{124, 12};
inline constexpr Field time{136, 12};
inline constexpr Field sum{148, 8};
inline constexpr Field type{156, 1};
inline constexpr Field target{157, 100};
inline constexpr Field magic{257, 6};
inline constexpr Field major{329, 8};
inline constexpr Field minor{337, 8};
inline constexpr Field prefix{345, 155};

}  // namespace field

/// The letters of the types. Archives have no sockets: a pipe stands for one, because detection
/// looks for no pipe.
struct TypeLetter {
  TarEntry::Type type;
  char letter;
};

inline constexpr TypeLetter letters[] = {
    {TarEntry::Type::file, '0'},      {TarEntry::Type::link, '2'},
    {TarEntry::Type::character, '3'}, {TarEntry::Type::block, '4'},
    {TarEntry::Type::directory, '5'}, {TarEntry::Type::socket, '6'},
};

/// The checksum of a header: the sum of its bytes, with spaces in the place of the sum.
inline std::uint32_t checksum(const char* header) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < block_size; ++i) {
    const bool is_sum = i >= field::sum.offset && i < field::sum.offset + field::sum.size;
    total += is_sum ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return total;
}

/// The size of a file, with the rest of its last block.
inline std::size_t padded(std::size_t bytes) {
  return (bytes + block_size - 1) / block_size * block_size;
}

}  // namespace tar

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_RECORD_TAR_ENTRY_HPP
