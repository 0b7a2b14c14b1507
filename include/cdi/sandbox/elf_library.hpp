// `read_elf_library`: the SONAME and the kind of a shared library, read from its file; and
// `read_elf_section`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_ELF_LIBRARY_HPP
#define CDI_SANDBOX_ELF_LIBRARY_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// What glibc's `ldconfig` needs of a shared library.
struct ElfLibrary {
  /// The name that programs ask for, such as `libcuda.so.1`: a file name without a directory. Empty
  /// if the library has none; ldconfig then takes the name of the file.
  std::string soname{};
  /// The flags of the library in `ld.so.cache`, such as 0x0303 for x86-64 and 0x0a03 for AArch64: 3
  /// for a library of glibc, and the bits of the machine and its ABI. 0 if glibc has no flags for
  /// the machine, so that the library cannot be in a cache.
  std::uint32_t cache_kind = 0;

  friend bool operator==(const ElfLibrary&, const ElfLibrary&) = default;
};

/// Reads what ldconfig needs of an open file, which keeps its offset. The library can be of any
/// machine and byte order, with 32 or 64 bits.
///
/// Returns nullopt if this is not a regular file or not a shared library, if it is damaged or
/// cannot be read, if its SONAME is not a file name, and beyond 256 program headers or 4096 dynamic
/// entries. Reads at most 80 KiB, in 4 calls.
std::optional<ElfLibrary> read_elf_library(int descriptor);

/// Reads the bytes of the section with a name, such as `.note.gnu.build-id`, of an open ELF file of
/// any machine and byte order, with 32 or 64 bits.
///
/// Returns nullopt if this is not a regular file or not an ELF file, if it has no such section, if
/// it is damaged or cannot be read, and beyond 1024 sections or 64 KiB for the names or the
/// section.
std::optional<std::string> read_elf_section(int descriptor, std::string_view name);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/sandbox/elf_library.inl>
#endif

#endif  // CDI_SANDBOX_ELF_LIBRARY_HPP
