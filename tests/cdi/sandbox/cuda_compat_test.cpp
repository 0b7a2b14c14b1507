// Tests for include/cdi/sandbox/cuda_compat.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/sandbox/cuda_compat.hpp>

namespace {

using cdi::detail::CompatNote;

/// A library with a note, as an ELF file of two sections.
std::string compat_library(std::string_view note_text,
                           std::string_view owner = "NVIDIA Corporation") {
  const std::string names{"\0.note.cuda.fwd_compatibility\0", 30};
  std::string note(sizeof(Elf64_Nhdr), '\0');
  const Elf64_Nhdr head{.n_namesz = static_cast<Elf64_Word>(owner.size() + 1),
                        .n_descsz = static_cast<Elf64_Word>(note_text.size() + 1),
                        .n_type = 1};
  std::memcpy(note.data(), &head, sizeof head);
  note.append(owner).append(1, '\0');
  while (note.size() % 4 != 0) note.append(1, '\0');
  note.append(note_text).append(1, '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = sizeof header + names.size() + note.size();
  header.e_shnum = 2;
  Elf64_Shdr texts{};
  texts.sh_offset = sizeof header;
  texts.sh_size = names.size();
  Elf64_Shdr section{};
  section.sh_name = 1;
  section.sh_offset = sizeof header + names.size();
  section.sh_size = note.size();
  const auto bytes = [](const auto& value) {
    return std::string{reinterpret_cast<const char*>(&value), sizeof value};
  };
  return bytes(header) + names + note + bytes(texts) + bytes(section);
}

/// A file in memory with these bytes.
cdi::Descriptor file_of(std::string_view bytes) {
  cdi::Descriptor file{::memfd_create("library", MFD_CLOEXEC)};
  REQUIRE(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

std::optional<CompatNote> compat_note(std::string_view library) {
  return cdi::detail::compat_note(file_of(library).get());
}

bool is_preferred(std::string_view version, std::string_view library, std::string_view driver,
                  std::string_view cuda = {}) {
  return cdi::detail::prefers_image({"/compat", std::string{driver}, std::string{cuda}}, version,
                                    file_of(library).get());
}

}  // namespace

TEST_CASE("Without a note, the major version of the driver decides") {
  CHECK(is_preferred("580.1", "", "570.9"));
  CHECK_FALSE(is_preferred("570.9", "", "570.1"));
  CHECK_FALSE(is_preferred("560.1", "", "570.1"));
  CHECK_FALSE(is_preferred("580.1", "", "", "12.8"));
  CHECK_FALSE(is_preferred("580.1", compat_library("{}", "Someone"), "580.1"));
}

TEST_CASE("A note names the drivers that its library works with") {
  const auto library = compat_library(
      R"({"Format": 1, "CUDA Version": "13.0", "Driver": [535, 570], "Device": [1]})");
  CHECK(is_preferred("580.1", library, "570.1"));
  CHECK(is_preferred("570.2", library, "570.1"));
  CHECK_FALSE(is_preferred("570.1", library, "570.1"));
  CHECK_FALSE(is_preferred("580.1", library, "565.1"));
  CHECK(is_preferred("580.1", library, "", "12.8"));
  CHECK_FALSE(is_preferred("580.1", library, "", "13.0"));
  CHECK_FALSE(is_preferred("580.1", library, "", "13.0.1"));
  const auto any = compat_library(R"({"CUDA Version": "13.0"})");
  CHECK(is_preferred("580.1", any, "570.1", "12.9"));
  CHECK_FALSE(is_preferred("580.1", any, "570.1"));
}

TEST_CASE("A library that is cut or wrong at any place is read without a note") {
  const auto library = compat_library(R"({"Driver": [570]})");
  REQUIRE(compat_note(library));
  for (std::size_t size = 0; size < library.size(); ++size) {
    CHECK_FALSE(compat_note(std::string_view{library}.substr(0, size)));
  }
  for (std::size_t i = 0; i < library.size(); ++i) {
    auto wrong = library;
    wrong[i] = '\xff';
    static_cast<void>(compat_note(wrong));  // reads nothing outside of the text
  }
}

TEST_CASE("A driver whose version is unknown never loses against the image") {
  CHECK_FALSE(is_preferred("580.1", "", ""));
  CHECK_FALSE(is_preferred("580.1", compat_library("{}"), ""));
  CHECK_FALSE(is_preferred("580.1", compat_library(R"({"Driver": [570]})"), "", ""));
  CHECK_FALSE(is_preferred("", compat_library(R"({"Driver": [570]})"), "570.1"));
}

TEST_CASE("Versions are compared number by number, and a missing number is 0") {
  const auto library = compat_library(R"({"Driver": [570]})");
  CHECK(is_preferred("570.100", library, "570.99"));
  CHECK(is_preferred("570.1.1", library, "570.1"));
  CHECK_FALSE(is_preferred("570.1", library, "570.1.0"));
  CHECK_FALSE(is_preferred("570.9", library, "570.10"));
  CHECK_FALSE(is_preferred("beta", library, "570.1"));
  CHECK(is_preferred("570.1.beta", library, "570.0.9"));
}

TEST_CASE("A note gives the version of CUDA and the drivers, whatever their JSON types") {
  const auto note = compat_note(
      compat_library(R"({"CUDA Version": "13.0", "Driver": [535, "570", [1], {}], "x": {}})"));
  REQUIRE(note);
  CHECK(note->cuda_version == "13.0");
  CHECK(note->drivers == std::vector<std::uint32_t>{535, 570});
  const auto other =
      compat_note(compat_library(R"({"CUDA Version": ["13.0"], "Driver": {"535": 1}})"));
  REQUIRE(other);
  CHECK(other->cuda_version.empty());
  CHECK(other->drivers.empty());
}

TEST_CASE("A note that is no JSON object, or of another owner, is none") {
  CHECK(compat_note(compat_library("{}")));
  for (const auto* text : {"", "[]", "1", "{", "{} x"}) {
    CAPTURE(text);
    CHECK_FALSE(compat_note(compat_library(text)));
  }
  CHECK_FALSE(compat_note(compat_library("{}", "NVIDIA")));
  CHECK_FALSE(compat_note(compat_library("{}", "NVIDIA Corporation Ltd")));
  auto narrow = compat_library("{}");
  narrow[EI_CLASS] = ELFCLASS32;
  CHECK_FALSE(compat_note(narrow));
}

TEST_CASE("A large library costs no more than its note") {
  auto library = compat_library(R"({"Driver": [570]})");
  Elf64_Ehdr header{};
  std::memcpy(&header, library.data(), sizeof header);
  const auto rows = library.substr(header.e_shoff);
  header.e_shoff = std::uint64_t{1} << 40;  // behind a hole, which would not fit into the memory
  std::memcpy(library.data(), &header, sizeof header);
  const auto file = file_of(library);
  REQUIRE(::pwrite(file.get(), rows.data(), rows.size(), static_cast<off_t>(header.e_shoff)) ==
          static_cast<ssize_t>(rows.size()));
  CHECK(cdi::detail::compat_note(file.get()));
}

TEST_CASE("A note or a list of sections that is too long is none") {
  const std::string spaces(std::size_t{64} << 10, ' ');
  CHECK(compat_note(compat_library("{}" + spaces.substr(1000))));
  CHECK_FALSE(compat_note(compat_library("{}" + spaces)));
  auto library = compat_library("{}");
  library.append(1023 * sizeof(Elf64_Shdr), '\0');
  Elf64_Ehdr header{};
  std::memcpy(&header, library.data(), sizeof header);
  for (const int count : {1024, 1025}) {
    CAPTURE(count);
    header.e_shnum = static_cast<Elf64_Half>(count);
    std::memcpy(library.data(), &header, sizeof header);
    CHECK(compat_note(library).has_value() == (count == 1024));
  }
}
