// The bodies of <cdi/sandbox/cuda_compat.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_CUDA_COMPAT_INL
#define CDI_SANDBOX_CUDA_COMPAT_INL

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <elf.h>

#include <cdi/base/path.hpp>
#include <cdi/sandbox/cuda_compat.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/text/parse_json.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A range of bytes; empty past the end.
inline std::string_view bytes_at(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return {};
  const char* const first = bytes.data() + at;
  const char* const last = first + size;
  return {first, static_cast<std::size_t>(last - first)};
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

CDI_INLINE std::optional<CompatNote> compat_note(int library) {
  constexpr std::string_view owner = "NVIDIA Corporation";
  const auto section = read_elf_section(library, ".note.cuda.fwd_compatibility");
  const auto note = section ? std::string_view{*section} : std::string_view{};
  Elf64_Nhdr header = {};
  if (note.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, note.data(), sizeof header);
  const auto aligned = [](std::uint64_t size) {
    return (size + 3) / 4 * 4;
  };
  const auto name = bytes_at(note, sizeof header, header.n_namesz);
  auto text = bytes_at(note, sizeof header + aligned(header.n_namesz), header.n_descsz);
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

CDI_INLINE bool prefers_image(const CudaCompat& compat, std::string_view version, int library) {
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
