// The bodies of <cdi/sandbox/cuda_compat.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_CUDA_COMPAT_INL
#define CDI_SANDBOX_CUDA_COMPAT_INL

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

#include <cdi/base/path.hpp>
#include <cdi/sandbox/cuda_compat.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a value at an offset in a file; nullopt past the end.
template <class T>
std::optional<T> value_at(std::string_view bytes, std::uint64_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A range of bytes in a file; empty past the end.
inline std::string_view bytes_at(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return {};
  const char* const first = bytes.data() + at;
  const char* const last = first + size;
  return {first, static_cast<std::size_t>(last - first)};
}

/// The section with this name in a 64-bit ELF file with the byte order of this machine.
inline std::string_view elf_section(std::string_view file, std::string_view name) {
  const auto header = value_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header->e_ident[EI_CLASS] != ELFCLASS64) return {};
  const auto section = [&](std::uint64_t i) {
    return value_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section(header->e_shstrndx);
  if (!names) return {};
  const auto texts = bytes_at(file, names->sh_offset, names->sh_size);
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto one = section(i);
    if (!one) return {};
    const auto text = bytes_at(texts, one->sh_name, name.size() + 1);
    if (text.size() > name.size() && text.starts_with(name) && text.back() == '\0') {
      return bytes_at(file, one->sh_offset, one->sh_size);
    }
  }
  return {};
}

/// The major number of a version; 0 if there is none.
inline std::uint32_t major_of(std::string_view version) {
  std::uint32_t number = 0;
  return take_number(version, number) ? number : 0;
}

/// Whether a version is newer than another; missing parts are 0.
inline bool is_newer(std::string_view version, std::string_view other) {
  while (!version.empty() || !other.empty()) {
    const auto next = [](std::string_view& text) {
      std::uint32_t number = 0;
      if (!take_number(text, number)) text = {};
      if (text.starts_with('.')) text.remove_prefix(1);
      return number;
    };
    const auto mine = next(version);
    const auto theirs = next(other);
    if (mine != theirs) return mine > theirs;
  }
  return false;
}

CDI_INLINE std::optional<CompatNote> compat_note(std::string_view library) {
  constexpr std::string_view owner = "NVIDIA Corporation";
  const auto note = elf_section(library, ".note.cuda.fwd_compatibility");
  const auto header = value_at<Elf64_Nhdr>(note, 0);
  if (!header) return std::nullopt;
  const auto aligned = [](std::uint64_t size) {
    return (size + 3) / 4 * 4;
  };
  const auto name = bytes_at(note, sizeof *header, header->n_namesz);
  auto text = bytes_at(note, sizeof *header + aligned(header->n_namesz), header->n_descsz);
  if (name.substr(0, name.find('\0')) != owner) return std::nullopt;
  text = text.substr(0, text.find('\0'));
  const auto parsed = parse_json(text, "note");
  if (!parsed || parsed->root().kind() != Document::Kind::map) return std::nullopt;
  CompatNote out;
  for (const auto [key, value] : parsed->root().members()) {
    if (key.text() == "CUDA Version" && value.is_scalar()) out.cuda_version = value.text();
    if (key.text() != "Driver" || value.kind() != Document::Kind::list) continue;
    for (const auto item : value.items()) {
      if (item.is_scalar()) out.drivers.push_back(major_of(item.text()));
    }
  }
  return out;
}

CDI_INLINE bool prefers_image(const CudaCompat& compat, std::string_view version,
                              std::string_view library) {
  const auto note = compat_note(library);
  const auto host_major = major_of(compat.host_driver_version);
  if (!note) return host_major != 0 && major_of(version) > host_major;
  if (note->drivers.empty() || host_major == 0) {
    return !compat.host_cuda_version.empty() &&
           is_newer(note->cuda_version, compat.host_cuda_version);
  }
  const bool works =
      std::find(note->drivers.begin(), note->drivers.end(), host_major) != note->drivers.end();
  return works && is_newer(version, compat.host_driver_version);
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_CUDA_COMPAT_INL
