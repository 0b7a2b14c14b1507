// Shared libraries as bytes, for tests: an ELF file with a dynamic section and a SONAME.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// What a library is made of.
struct ElfText {
  bool wide = true;
  bool big_endian = false;
  unsigned machine = 62;
  unsigned flags = 0;
  unsigned type = 3;
  unsigned segments = 2;
  std::optional<std::string> soname = "libx.so.1";
};

/// Writes the numbers of an ELF file.
class ElfWriter {
 public:
  explicit ElfWriter(const ElfText& text) : text_{text} {}
  void put(std::size_t size, std::uint64_t number) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto place = text_.big_endian ? size - 1 - i : i;
      bytes_.push_back(static_cast<char>(number >> 8 * place & 0xff));
    }
  }
  void word(std::uint64_t number) { put(text_.wide ? 8 : 4, number); }
  void segment(unsigned type, std::uint64_t offset, std::uint64_t address, std::uint64_t size) {
    put(4, type);
    if (text_.wide) put(4, 0);
    for (const auto number : {offset, address, address, size, size}) word(number);
    if (!text_.wide) put(4, 0);
    word(0);
  }
  std::string& bytes() { return bytes_; }

 private:
  ElfText text_;
  std::string bytes_{"\177ELF"};
};

/// A library with two segments, a dynamic section of four entries, and strings.
inline std::string elf_bytes(const ElfText& text = {}) {
  const std::size_t header = text.wide ? 64 : 52;
  const std::size_t row = text.wide ? 56 : 32;
  const std::size_t entry = text.wide ? 16 : 8;
  const auto dynamic = header + 2 * row;
  const auto strings = dynamic + 4 * entry;
  constexpr std::uint64_t base = 0x10000;
  ElfWriter writer{text};
  writer.bytes() +=
      {static_cast<char>(text.wide ? 2 : 1), static_cast<char>(text.big_endian ? 2 : 1)};
  writer.bytes().resize(16);
  writer.put(2, text.type);
  writer.put(2, text.machine);
  writer.put(4, 1);
  for (const auto number : {std::size_t{0}, header, std::size_t{0}}) writer.word(number);
  writer.put(4, text.flags);
  for (const auto number : {header, row, std::size_t{text.segments}}) writer.put(2, number);
  writer.bytes().resize(header);
  const auto size = strings + 1 + text.soname.value_or("").size() + 1;
  writer.segment(1, 0, base, size);
  writer.segment(2, dynamic, base + dynamic, 4 * entry);
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{0},  // a needed library
        std::uint64_t{text.soname ? 14U : 1U}, std::uint64_t{1}, std::uint64_t{5}, base + strings,
        std::uint64_t{0}, std::uint64_t{0}}) {
    writer.word(number);
  }
  writer.bytes().push_back('\0');
  return writer.bytes().append(text.soname.value_or("")).append(1, '\0');
}
