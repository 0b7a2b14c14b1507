// What a hook of NVIDIA's program changes in a container, as plain data.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOK_CHANGES_HPP
#define CDI_SANDBOX_HOOK_CHANGES_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A symbolic link in a container, in place of what is at its path.
struct HookLink {
  std::string path{};    // a clean, absolute path
  std::string target{};  // the text of the link, which may be relative

  friend bool operator==(const HookLink&, const HookLink&) = default;
};

/// The mode of a file or directory in a container.
struct HookMode {
  std::string path{};      // a clean, absolute path
  std::uint32_t mode = 0;  // the permission bits, at most 07777

  friend bool operator==(const HookMode&, const HookMode&) = default;
};

/// A text file in a container.
struct HookFile {
  std::string path{};
  std::string text{};

  friend bool operator==(const HookFile&, const HookFile&) = default;
};

/// The CUDA driver library that an image contains for older drivers. The dynamic linker should use
/// this library when it is newer than the host's driver.
struct CudaCompat {
  std::string folder{};               // the absolute path with `libcuda.so.*.*`
  std::string host_driver_version{};  // such as `570.195.03`; empty when unknown
  std::string host_cuda_version{};    // such as `12.8`; empty when unknown

  friend bool operator==(const CudaCompat&, const CudaCompat&) = default;
};

/// What a hook changes in a container.
struct HookChanges {
  std::vector<HookLink> links{};
  std::vector<HookMode> modes{};
  std::vector<HookFile> files{};
  std::vector<CudaCompat> cuda_compat{};       // linker directories, used if they are newer
  std::vector<std::string> library_folders{};  // linker directories
  // Whether /proc/driver/nvidia/params gets `ModifyDeviceFiles: 0`.
  bool masks_params = false;

  friend bool operator==(const HookChanges&, const HookChanges&) = default;
};

/// What hooks depend on in a container.
struct HookedContainer {
  std::uint64_t gpus = 0;         // the minor numbers of /dev/nvidia0 to 63, one bit for each
  std::string_view limit_name{};  // a variable that limits the GPU memory; empty if none is set

  /// Adds a device node.
  void add_node(std::string_view path, std::string_view type, std::int64_t minor);
  /// Adds a variable, such as `A=1`, whose text must outlive this object.
  void add_variable(std::string_view entry);
};

/// Returns what a hook at this point changes in a container, without guessing. Fails with
/// `Errc::unsupported` and the reason if the hook must run: if its class is `legacy` or `foreign`,
/// if its arguments are not understood, or if it reads a variable of the container.
Result<HookChanges> changes_of(const HookCommand& command, oci::HookPoint point,
                               const HookedContainer& container);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/sandbox/hook_changes.inl>
#endif

#endif  // CDI_SANDBOX_HOOK_CHANGES_HPP
