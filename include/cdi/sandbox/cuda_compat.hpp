// Whether the CUDA driver library of an image should be used instead of the host's.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_CUDA_COMPAT_HPP
#define CDI_SANDBOX_CUDA_COMPAT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// What a compatibility library says about itself, in its ELF note `.note.cuda.fwd_compatibility`.
struct CompatNote {
  std::string cuda_version{};
  std::vector<std::uint32_t> drivers{};  // the major versions of drivers that it works with
};

/// Returns the note of a library that is open; nullopt if there is none that is understood.
std::optional<CompatNote> compat_note(int library);

/// The names of the driver's library begin with this text, and end with its version.
inline constexpr std::string_view cuda_library_stem = "libcuda.so.";

/// Returns whether a name is `libcuda.so.VERSION`, with a version of several numbers.
constexpr bool is_cuda_library(std::string_view name) {
  return name.starts_with(cuda_library_stem) &&
         name.substr(cuda_library_stem.size()).find('.') != std::string_view::npos;
}

/// Returns whether the library of an image, `libcuda.so.VERSION`, which is open, should be used
/// with the driver of the host.
bool prefers_image(const CudaCompat& compat, std::string_view version, int library);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/sandbox/cuda_compat.inl>
#endif

#endif  // CDI_SANDBOX_CUDA_COMPAT_HPP
