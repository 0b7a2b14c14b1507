// The bodies of <cdi/sandbox/elf_library.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_ELF_LIBRARY_INL
#define CDI_SANDBOX_ELF_LIBRARY_INL

#include <cerrno>
#include <cstddef>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include <cdi/sandbox/elf_library.hpp>

// The numbers of <elf.h> and of glibc's dl-cache.h are written out here: that header is missing on
// some systems, and its macros would reach users.

namespace cdi::inline CDI_ABI::detail {

/// An open ELF file: its size, its byte order, and whether its words have 64 bits.
struct ElfFile {
  int descriptor = -1;
  std::uint64_t size = 0;
  bool big_endian = false;
  bool wide = false;
};

/// A program header.
struct ElfSegment {
  std::uint64_t type = 0;
  std::uint64_t offset = 0;   // in the file
  std::uint64_t address = 0;  // in memory
  std::uint64_t size = 0;     // in the file
};

/// Reads a range of a file. False if the range is not inside the file, or if a read fails.
inline bool read_elf_bytes(const ElfFile& file, std::uint64_t offset, std::size_t count,
                           std::string& bytes) {
  if (offset > file.size || count > file.size - offset) return false;
  bytes.resize(count);
  std::size_t got = 0;
  while (got < count) {
    const auto at = static_cast<off_t>(offset + got);
    const auto read = ::pread(file.descriptor, bytes.data() + got, count - got, at);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    got += static_cast<std::size_t>(read);
  }
  return true;
}

/// The number of `size` bytes at an offset, which must be inside `bytes`.
inline std::uint64_t elf_number(const ElfFile& file, std::string_view bytes, std::size_t offset,
                                std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto place = file.big_endian ? i : size - 1 - i;
    number = number << 8U | static_cast<unsigned char>(bytes[offset + place]);
  }
  return number;
}

/// The flags of an ARM library. Libraries without a mark fit all ABIs.
inline std::uint32_t arm_kind(std::uint32_t flags) {
  constexpr std::uint32_t version_mask = 0xff000000;
  constexpr std::uint32_t version_5 = 0x05000000;
  constexpr std::uint32_t hard_float = 0x400;
  constexpr std::uint32_t soft_float = 0x200;
  if ((flags & version_mask) != version_5) return 0x0003;
  if ((flags & hard_float) != 0) return 0x0903;
  return (flags & soft_float) != 0 ? 0x0b03 : 0x0003;
}

/// The flags of a MIPS library: of the ABIs O32, N32 and N64, with old or new NaNs.
inline std::uint32_t mips_kind(std::uint32_t flags, bool wide) {
  constexpr std::uint32_t n32 = 0x20;
  constexpr std::uint32_t nan_2008 = 0x400;
  const bool new_nans = (flags & nan_2008) != 0;
  if (wide) return new_nans ? 0x0e03 : 0x0703;
  if ((flags & n32) != 0) return new_nans ? 0x0d03 : 0x0603;
  return new_nans ? 0x0c03 : 0x0003;
}

/// The flags of a RISC-V library; 0 for ABIs that glibc does not have.
inline std::uint32_t riscv_kind(std::uint32_t flags) {
  constexpr std::uint32_t compressed = 0x1;  // instructions of 16 bits, which do not matter
  const auto rest = flags & ~compressed;
  if (rest == 0) return 0x0f03;
  return rest == 0x4 ? 0x1003 : 0;  // 0x4: floating-point registers of 64 bits
}

/// The flags of a LoongArch library; 0 for ABIs that glibc does not have.
inline std::uint32_t loongarch_kind(std::uint32_t flags) {
  constexpr std::uint32_t object_abi = 0x40;  // the kind of relocations, which do not matter
  const auto rest = flags & ~object_abi;
  if (rest == 0x1) return 0x1103;   // without floating-point registers
  return rest == 0x3 ? 0x1203 : 0;  // with registers of 64 bits
}

/// The flags of a library in `ld.so.cache`; 0 if the machine is unknown.
inline std::uint32_t cache_kind_of(std::uint64_t machine, std::uint32_t flags, bool wide) {
  const auto only = [&](bool is_wide, std::uint32_t kind) {
    return wide == is_wide ? kind : 0;
  };
  switch (machine) {
    case 2: return only(false, 0x0003);  // SPARC
    case 3: return only(false, 0x0003);  // i386; 1 without a need of libc, which comes after 3
    case 8: return mips_kind(flags, wide);
    case 18: return only(false, 0x0003);     // SPARC V8+
    case 20: return only(false, 0x0003);     // PowerPC
    case 21: return only(true, 0x0503);      // PowerPC, 64 bits
    case 22: return wide ? 0x0403 : 0x0003;  // S/390
    case 40: return only(false, arm_kind(flags));
    case 43: return only(true, 0x0103);      // SPARC V9
    case 50: return only(true, 0x0203);      // IA-64
    case 62: return wide ? 0x0303 : 0x0803;  // x86-64, x32
    case 183: return only(true, 0x0a03);     // AArch64
    case 243: return riscv_kind(flags);
    case 258: return only(true, loongarch_kind(flags));
    default: return 0;
  }
}

/// Reads the size, byte order and word size of a file. False if this is not a regular ELF file.
inline bool identify_elf(ElfFile& file, std::string& header) {
  struct stat info = {};
  if (::fstat(file.descriptor, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  file.size = static_cast<std::uint64_t>(info.st_size);
  constexpr std::size_t short_header = 52;
  constexpr std::size_t wide_header = 64;
  const std::size_t there = file.size < wide_header ? short_header : wide_header;
  if (!read_elf_bytes(file, 0, there, header) || !header.starts_with("\177ELF")) return false;
  const char word_size = header[4];
  const char byte_order = header[5];
  if ((word_size != 1 && word_size != 2) || (byte_order != 1 && byte_order != 2)) return false;
  file.wide = word_size == 2;
  file.big_endian = byte_order == 2;
  return !file.wide || there == wide_header;
}

/// Reads the program headers; empty if they are damaged or too many.
inline std::vector<ElfSegment> read_segments(const ElfFile& file, std::string_view header) {
  constexpr std::size_t most = 256;
  const bool wide = file.wide;
  const std::size_t word = wide ? 8 : 4;
  const auto from = elf_number(file, header, wide ? 32 : 28, word);
  const std::size_t row_size =
      static_cast<std::uint16_t>(elf_number(file, header, wide ? 54 : 42, 2));
  const std::size_t count = static_cast<std::uint16_t>(elf_number(file, header, wide ? 56 : 44, 2));
  std::vector<ElfSegment> segments;
  std::string rows;
  if (row_size != (wide ? 56 : 32) || count > most) return segments;
  if (!read_elf_bytes(file, from, count * row_size, rows)) return segments;
  for (std::size_t row = 0; row < rows.size(); row += row_size) {
    segments.push_back({.type = elf_number(file, rows, row, 4),
                        .offset = elf_number(file, rows, row + word, word),
                        .address = elf_number(file, rows, row + 2 * word, word),
                        .size = elf_number(file, rows, row + 4 * word, word)});
  }
  return segments;
}

/// The places of strings in a dynamic section.
struct ElfStrings {
  std::optional<std::uint64_t> table{};   // its address in memory
  std::optional<std::uint64_t> soname{};  // an offset in the table
};

/// Reads the dynamic section. Nullopt if it is missing, damaged or too long.
inline std::optional<ElfStrings> read_dynamic(const ElfFile& file,
                                              const std::vector<ElfSegment>& segments) {
  constexpr std::uint64_t dynamic_type = 2;
  constexpr std::size_t most = 4096;
  const std::size_t word = file.wide ? 8 : 4;
  const ElfSegment* dynamic = nullptr;
  for (const auto& segment : segments) {
    if (segment.type == dynamic_type && dynamic == nullptr) dynamic = &segment;
  }
  std::string rows;
  if (dynamic == nullptr || dynamic->size > most * 2 * word) return std::nullopt;
  const auto size = static_cast<std::size_t>(dynamic->size);
  if (!read_elf_bytes(file, dynamic->offset, size, rows)) return std::nullopt;
  ElfStrings strings;
  for (std::size_t row = 0; row + 2 * word <= rows.size(); row += 2 * word) {
    const auto tag = elf_number(file, rows, row, word);
    const auto value = elf_number(file, rows, row + word, word);
    if (tag == 0) break;
    if (tag == 5 && !strings.table) strings.table = value;
    if (tag == 14 && !strings.soname) strings.soname = value;
  }
  if (!strings.table) return std::nullopt;
  return strings;
}

/// Reads the SONAME at an address in memory. Nullopt if it is not in a segment of the file, or is
/// no file name.
inline std::optional<std::string> read_soname(const ElfFile& file,
                                              const std::vector<ElfSegment>& segments,
                                              std::uint64_t address) {
  constexpr std::uint64_t load_type = 1;
  constexpr std::uint64_t longest = 255 + 1;  // NAME_MAX and a NUL
  std::string name;
  for (const auto& segment : segments) {
    const auto skipped = address - segment.address;
    if (segment.type != load_type || address < segment.address) continue;
    if (skipped >= segment.size || segment.offset > file.size) continue;
    if (skipped >= file.size - segment.offset) return std::nullopt;
    const auto from = segment.offset + skipped;
    auto count = segment.size - skipped;
    if (count > file.size - from) count = file.size - from;
    if (count > longest) count = longest;
    if (!read_elf_bytes(file, from, static_cast<std::uint16_t>(count), name)) return std::nullopt;
    break;
  }
  const auto end = name.find('\0');
  if (end == std::string::npos) return std::nullopt;
  name.resize(end);
  if (name == "." || name == ".." || name.find('/') != std::string::npos) return std::nullopt;
  return name;
}

CDI_INLINE std::optional<ElfLibrary> read_elf_library(int descriptor) {
  constexpr std::uint64_t shared_library = 3;
  ElfFile file{.descriptor = descriptor};
  std::string header;
  if (!identify_elf(file, header)) return std::nullopt;
  if (elf_number(file, header, 16, 2) != shared_library) return std::nullopt;
  const auto segments = read_segments(file, header);
  const auto strings = read_dynamic(file, segments);
  if (!strings) return std::nullopt;
  const auto machine = elf_number(file, header, 18, 2);
  const auto flags = static_cast<std::uint32_t>(elf_number(file, header, file.wide ? 48 : 36, 4));
  ElfLibrary library{.cache_kind = cache_kind_of(machine, flags, file.wide)};
  if (!strings->soname) return library;
  const auto address = *strings->table + *strings->soname;
  if (address < *strings->table) return std::nullopt;
  auto soname = read_soname(file, segments, address);
  if (!soname) return std::nullopt;
  library.soname = *soname;
  return library;
}

/// A section header.
struct ElfSection {
  std::uint64_t name = 0;    // an offset in the section of names
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;
};

/// Reads the section headers; empty if they are damaged or too many.
inline std::vector<ElfSection> read_sections(const ElfFile& file, std::string_view header) {
  constexpr std::size_t most = 1024;
  const bool wide = file.wide;
  const std::size_t word = wide ? 8 : 4;
  const auto from = elf_number(file, header, wide ? 40 : 32, word);
  const std::size_t row_size =
      static_cast<std::uint16_t>(elf_number(file, header, wide ? 58 : 46, 2));
  const std::size_t count = static_cast<std::uint16_t>(elf_number(file, header, wide ? 60 : 48, 2));
  std::vector<ElfSection> sections;
  std::string rows;
  if (row_size != (wide ? 64 : 40) || count > most) return sections;
  if (!read_elf_bytes(file, from, count * row_size, rows)) return sections;
  for (std::size_t row = 0; row < rows.size(); row += row_size) {
    sections.push_back({.name = elf_number(file, rows, row, 4),
                        .offset = elf_number(file, rows, row + (wide ? 24 : 16), word),
                        .size = elf_number(file, rows, row + (wide ? 32 : 20), word)});
  }
  return sections;
}

/// Reads a section. False if it is too long.
inline bool read_section_bytes(const ElfFile& file, const ElfSection& section, std::string& bytes) {
  constexpr std::uint64_t most = std::uint64_t{64} << 10;
  return section.size <= most &&
         read_elf_bytes(file, section.offset, static_cast<std::size_t>(section.size), bytes);
}

CDI_INLINE std::optional<std::string> read_elf_section(int descriptor, std::string_view name) {
  ElfFile file{.descriptor = descriptor};
  std::string header;
  if (!identify_elf(file, header)) return std::nullopt;
  const auto sections = read_sections(file, header);
  const std::size_t names =
      static_cast<std::uint16_t>(elf_number(file, header, file.wide ? 62 : 50, 2));
  std::string texts;
  if (names >= sections.size()) return std::nullopt;
  if (!read_section_bytes(file, sections[names], texts)) return std::nullopt;
  for (const auto& section : sections) {
    if (section.name > texts.size()) return std::nullopt;
    const auto text = std::string_view{texts}.substr(static_cast<std::size_t>(section.name));
    const bool is_same =
        text.starts_with(name) && text.substr(name.size(), 1) == std::string_view{"\0", 1};
    if (!is_same) continue;
    std::string bytes;
    if (!read_section_bytes(file, section, bytes)) return std::nullopt;
    return bytes;
  }
  return std::nullopt;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_ELF_LIBRARY_INL
