// Tests for include/cdi/sandbox/elf_library.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/sandbox/elf_library.hpp>

#include "../../support/elf_bytes.hpp"

namespace {

using cdi::detail::ElfLibrary;

/// A file with changing content.
class ScratchFile {
 public:
  ScratchFile() : file_{std::tmpfile()} { REQUIRE(file_ != nullptr); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::fclose(file_); }
  int descriptor() const { return ::fileno(file_); }
  std::optional<ElfLibrary> read(std::string_view bytes) const {
    REQUIRE(::ftruncate(descriptor(), 0) == 0);
    const auto size = static_cast<ssize_t>(bytes.size());
    REQUIRE(::pwrite(descriptor(), bytes.data(), bytes.size(), 0) == size);
    return cdi::detail::read_elf_library(descriptor());
  }

 private:
  std::FILE* file_;
};

std::optional<ElfLibrary> read_text(const ElfText& text) {
  return ScratchFile{}.read(elf_bytes(text));
}

std::uint32_t kind_of(unsigned machine, bool wide, unsigned flags = 0, bool big_endian = false) {
  const auto library =
      read_text({.wide = wide, .big_endian = big_endian, .machine = machine, .flags = flags});
  REQUIRE(library.has_value());
  CHECK(library->soname == "libx.so.1");
  return library->cache_kind;
}

}  // namespace

TEST_CASE("The kind of a library names its machine as glibc does") {
  CHECK(kind_of(62, true) == 0x0303);
  CHECK(kind_of(62, false) == 0x0803);
  CHECK(kind_of(3, false) == 0x0003);
  CHECK(kind_of(183, true) == 0x0a03);
  CHECK(kind_of(183, true, 0, true) == 0x0a03);
  CHECK(kind_of(21, true) == 0x0503);
  CHECK(kind_of(20, false, 0, true) == 0x0003);
  CHECK(kind_of(22, true, 0, true) == 0x0403);
  CHECK(kind_of(22, false, 0, true) == 0x0003);
  CHECK(kind_of(43, true, 0, true) == 0x0103);
  CHECK(kind_of(2, false, 0, true) == 0x0003);
  CHECK(kind_of(18, false, 0, true) == 0x0003);
  CHECK(kind_of(50, true) == 0x0203);
}

TEST_CASE("The kind of a library names the ABI in its flags") {
  CHECK(kind_of(40, false, 0x05000400) == 0x0903);
  CHECK(kind_of(40, false, 0x05000200) == 0x0b03);
  CHECK(kind_of(40, false, 0x05000000) == 0x0003);
  CHECK(kind_of(40, false, 0x04000400) == 0x0003);
  CHECK(kind_of(243, true, 0x5) == 0x1003);
  CHECK(kind_of(243, false, 0x4) == 0x1003);
  CHECK(kind_of(243, true, 0x1) == 0x0f03);
  CHECK(kind_of(258, true, 0x43) == 0x1203);
  CHECK(kind_of(258, true, 0x41) == 0x1103);
  CHECK(kind_of(8, false, 0, true) == 0x0003);
  CHECK(kind_of(8, false, 0x400) == 0x0c03);
  CHECK(kind_of(8, false, 0x20) == 0x0603);
  CHECK(kind_of(8, false, 0x420) == 0x0d03);
  CHECK(kind_of(8, true) == 0x0703);
  CHECK(kind_of(8, true, 0x400) == 0x0e03);
}

TEST_CASE("A library of an unknown machine or ABI has kind 0") {
  CHECK(kind_of(0, true) == 0);
  CHECK(kind_of(3, true) == 0);
  CHECK(kind_of(21, false) == 0);
  CHECK(kind_of(40, true) == 0);
  CHECK(kind_of(183, false) == 0);
  CHECK(kind_of(258, false, 0x43) == 0);
  CHECK(kind_of(258, true, 0x42) == 0);
  CHECK(kind_of(243, true, 0x2) == 0);
  CHECK(kind_of(243, true, 0xd) == 0);
}

TEST_CASE("A SONAME is a file name, and may be missing") {
  CHECK(read_text({.soname = std::nullopt}) == ElfLibrary{"", 0x0303});
  CHECK(read_text({.soname = ""}) == ElfLibrary{"", 0x0303});
  const std::string longest(255, 'x');
  CHECK(read_text({.soname = longest}) == ElfLibrary{longest, 0x0303});
  for (const std::string& name :
       {longest + "x", std::string{"a/b"}, std::string{"/"}, std::string{"."}, std::string{".."}}) {
    CAPTURE(name);
    CHECK_FALSE(read_text({.soname = name}).has_value());
  }
  auto endless = elf_bytes({});
  endless.back() = 'x';
  CHECK_FALSE(ScratchFile{}.read(endless).has_value());
}

TEST_CASE("Only shared libraries in regular files are read") {
  CHECK_FALSE(read_text({.type = 2}).has_value());
  CHECK_FALSE(read_text({.segments = 0}).has_value());
  CHECK_FALSE(read_text({.segments = 1}).has_value());
  CHECK_FALSE(read_text({.segments = 257}).has_value());
  CHECK_FALSE(read_text({.segments = 0xffff}).has_value());
  CHECK_FALSE(cdi::detail::read_elf_library(-1).has_value());
  for (const char* path : {"/", "/dev/null", "/dev/zero"}) {
    const cdi::Descriptor file{::open(path, O_RDONLY)};
    CAPTURE(path);
    CHECK_FALSE(cdi::detail::read_elf_library(file.get()).has_value());
  }
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const cdi::Descriptor from{pipe[0]};
  const cdi::Descriptor to{pipe[1]};
  CHECK_FALSE(cdi::detail::read_elf_library(from.get()).has_value());
}

TEST_CASE("Segments and dynamic sections of any size are bounded") {
  const ScratchFile file;
  const auto good = elf_bytes({});
  constexpr std::size_t dynamic_size = 64 + 56 + 32;
  for (const std::size_t size : {0x10000U, 0x10010U, 0x7fffffffU}) {
    auto bytes = good;
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[dynamic_size + i] = static_cast<char>(size >> 8 * i & 0xff);
    }
    CAPTURE(size);
    CHECK_FALSE(file.read(bytes).has_value());
    bytes.resize(std::size_t{1} << 20U);  // sections of up to 4096 entries are read
    CHECK(file.read(bytes).has_value() == (size == 0x10000));
  }
}

TEST_CASE("Segments are used by their types and sizes") {
  const ScratchFile file;
  const auto good = elf_bytes({});
  constexpr std::size_t load = 64;
  constexpr std::size_t file_size = 32;
  auto bytes = good;
  bytes[load] = 6;
  CHECK_FALSE(file.read(bytes).has_value());
  bytes = good;
  bytes[load + file_size + 3] = 1;  // the segment is longer than the file
  CHECK(file.read(bytes) == ElfLibrary{"libx.so.1", 0x0303});
  bytes[load + file_size + 3] = 0;
  bytes[load + file_size] = 1;
  bytes[load + file_size + 1] = 0;
  CHECK_FALSE(file.read(bytes).has_value());
  bytes = good + std::string(1, '\0');
  const auto name = bytes.find("libx.so.1");
  constexpr std::size_t strings = 64 + 2 * 56 + 2 * 16 + 8;
  bytes[load + 8] = static_cast<char>(bytes.size());  // its offset is the end of the file
  bytes.replace(load + 16, 8, 8, '\0');
  bytes.replace(load + file_size, 8, 8, '\xff');
  bytes.replace(strings, 8, 8, '\xff');
  bytes[strings] =
      static_cast<char>(name - bytes.size() - 1);  // with the offset, the sum is `name`
  CHECK_FALSE(file.read(bytes).has_value());
  for (const unsigned count : {256U, 257U}) {
    bytes = elf_bytes({.segments = count});
    bytes.resize(std::size_t{1} << 20U);
    CHECK(file.read(bytes).has_value() == (count == 256));
  }
}

TEST_CASE("A dynamic section ends at its end mark, and has the address of the strings") {
  const ScratchFile file;
  constexpr std::size_t dynamic = 64 + 2 * 56;
  for (const std::optional<std::string>& name : {std::optional<std::string>{}, {"a"}}) {
    const auto good = elf_bytes({.soname = name});
    auto bytes = good;
    bytes[dynamic] = 0;
    CHECK_FALSE(file.read(bytes).has_value());
    bytes = good;
    bytes[dynamic + 32] = 6;
    CHECK_FALSE(file.read(bytes).has_value());
    bytes = good;
    bytes[dynamic + 16 + 15] = '\x80';  // both numbers are too large, their sum is not
    bytes[dynamic + 32 + 15] = '\x80';
    CHECK(file.read(bytes).has_value() == !name.has_value());
  }
}

TEST_CASE("The offset of the file stays") {
  const ScratchFile file;
  REQUIRE(file.read(elf_bytes({})).has_value());
  CHECK(::lseek(file.descriptor(), 0, SEEK_CUR) == 0);
}

TEST_CASE("A damaged library gives nothing, or a name without a directory") {
  const ScratchFile file;
  for (const ElfText& text :
       {ElfText{}, ElfText{.wide = false, .big_endian = true, .machine = 8}}) {
    const auto good = elf_bytes(text);
    REQUIRE(file.read(good).has_value());
    for (std::size_t size = 0; size < good.size(); ++size) {
      CHECK_FALSE(file.read(std::string_view{good}.substr(0, size)).has_value());
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU, 0x2fU}) {
        auto bytes = good;
        bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
        const auto library = file.read(bytes);
        if (library)
          CHECK(library->soname.find_first_of(std::string_view{"/\0", 2}) == std::string::npos);
      }
    }
  }
}
