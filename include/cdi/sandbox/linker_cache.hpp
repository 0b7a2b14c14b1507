// The cache of glibc's dynamic linker: its libraries, and the same with more.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_LINKER_CACHE_HPP
#define CDI_SANDBOX_LINKER_CACHE_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A library of an `ld.so.cache`.
struct LinkerEntry {
  std::string soname{};    ///< the name that programs ask for, a file name
  std::string path{};      ///< the absolute path of the library in the container
  std::uint32_t kind = 0;  ///< as in `ElfLibrary::cache_kind`; not 0

  friend bool operator==(const LinkerEntry&, const LinkerEntry&) = default;
};

/// Returns the bytes of an `ld.so.cache` with the libraries of an old one and the added ones, in
/// the format that glibc reads since version 2.2, for machines with the byte order of this one. The
/// old cache may be empty, and may have the new format, the old one, or both.
///
/// An added library replaces all libraries of the same SONAME and kind, including those of
/// `glibc-hwcaps` directories, which glibc would prefer. Of two added ones, the first counts.
/// SONAMEs that glibc does not distinguish, such as `a.so.1` and `a.so.01`, are the same. All other
/// libraries keep their order, their OS version and their hardware capabilities. If the old cache
/// has all added ones already, the result is the old cache.
///
/// Returns nullopt if the old cache is damaged, is larger than 8 MiB, has over 100,000 libraries or
/// has the other byte order, and if an added library has no kind, no absolute path, or a SONAME
/// that is not a file name, or the texts of all have more than 64 MiB. Costs one sort. The result
/// has at most 26 bytes and its texts for each added library, 1 KiB, and the size of the old cache,
/// or twice that if the old cache has only the old format.
std::optional<std::string> merged_linker_cache(std::string_view old_cache,
                                               std::span<const LinkerEntry> added);

/// Returns the libraries of one kind in an `ld.so.cache`, in the same order; none of a cache that
/// is damaged, or larger than 8 MiB. Leaves out libraries without a name or path.
std::vector<LinkerEntry> linker_entries(std::string_view cache, std::uint32_t kind);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/sandbox/linker_cache.inl>
#endif

#endif  // CDI_SANDBOX_LINKER_CACHE_HPP
