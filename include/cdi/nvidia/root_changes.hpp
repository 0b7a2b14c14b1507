// `RootChanges`: changes to the files of a container's root, as plain data.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_NVIDIA_ROOT_CHANGES_HPP
#define CDI_NVIDIA_ROOT_CHANGES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A symbolic link in a container. The directories above it are created when they are missing; a
/// file or another link in its place is replaced.
struct RootLink {
  std::string path{};    ///< where the link is; absolute, in the container
  std::string target{};  ///< the text of the link; may be relative

  friend bool operator==(const RootLink&, const RootLink&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootLink::path, required);
    list("target", &RootLink::target, required);
  }
};

/// The mode of a file or directory in a container; nothing is done when the file is missing.
struct RootMode {
  std::string path{};      ///< absolute, in the container; links are followed
  std::uint32_t mode = 0;  ///< the permission bits, at most 07777

  friend bool operator==(const RootMode&, const RootMode&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootMode::path, required);
    list("mode", &RootMode::mode, required);
  }
};

/// A text file in a container, with mode 0444. It replaces a file of its name; the directories
/// above it are created when they are missing.
struct RootFile {
  std::string path{};  ///< absolute, in the container
  std::string text{};  ///< its content

  friend bool operator==(const RootFile&, const RootFile&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootFile::path, required);
    list("text", &RootFile::text);
  }
};

/// The CUDA driver library that an image brings for drivers older than itself. The dynamic linker
/// should use it when it is newer than the driver of the host.
struct CudaCompat {
  std::string folder{};               ///< with `libcuda.so.*.*`; absolute, in the container
  std::string host_driver_version{};  ///< such as `570.195.03`; empty when unknown
  std::string host_cuda_version{};    ///< such as `12.8`; empty when unknown

  friend bool operator==(const CudaCompat&, const CudaCompat&) = default;

  static constexpr void fields(auto& list) {
    list("folder", &CudaCompat::folder, required);
    list("hostDriverVersion", &CudaCompat::host_driver_version);
    list("hostCudaVersion", &CudaCompat::host_cuda_version);
  }
};

/// Changes to the files of a container's root, made before the container starts. Modes are set
/// last; a mode of a file in `files` applies to the new file. A described type: `write_json` and
/// `read_json` write and read it.
struct RootChanges {
  std::vector<RootLink> links{};               ///< to create
  std::vector<RootMode> modes{};               ///< to set
  std::vector<RootFile> files{};               ///< to write
  std::vector<CudaCompat> cuda_compat{};       ///< to add to the linker's folders if they are newer
  std::vector<std::string> library_folders{};  ///< for the linker: ld.so.conf.d, or musl's path
  /// Whether the container gets `params_mount`, whose file must be written: outside of the root,
  /// with the text of `masked_params`.
  bool masked_params = false;

  friend bool operator==(const RootChanges&, const RootChanges&) = default;

  static constexpr void fields(auto& list) {
    list("links", &RootChanges::links);
    list("modes", &RootChanges::modes);
    list("files", &RootChanges::files);
    list("cudaCompat", &RootChanges::cuda_compat);
    list("libraryFolders", &RootChanges::library_folders);
    list("maskedParams", &RootChanges::masked_params);
  }
};

/// Adds changes to others. What is already there is not added again; of two changes to one path,
/// the later one stays. Costs a sort of all.
void merge(RootChanges& all, const RootChanges& some);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/root_changes.inl>
#endif

#endif  // CDI_NVIDIA_ROOT_CHANGES_HPP
