// `RootChanges`: changes to the files of a container's root, as plain data.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NVIDIA_ROOT_CHANGES_HPP
#define CDI_NVIDIA_ROOT_CHANGES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A symbolic link in a container. Missing parent directories are created; an existing file or link
/// is replaced.
struct RootLink {
  std::string path{};    ///< the absolute path of the link in the container
  std::string target{};  ///< the text of the link, which may be relative

  friend bool operator==(const RootLink&, const RootLink&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootLink::path, required);
    list("target", &RootLink::target, required);
  }
};

/// The mode of a file or directory in a container. A missing file is skipped.
struct RootMode {
  std::string path{};      ///< an absolute path in the container; links are followed
  std::uint32_t mode = 0;  ///< the permission bits, at most 07777

  friend bool operator==(const RootMode&, const RootMode&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootMode::path, required);
    list("mode", &RootMode::mode, required);
  }
};

/// A text file in a container, with mode 0444. An existing file is replaced; missing parent
/// directories are created.
struct RootFile {
  std::string path{};  ///< an absolute path in the container
  std::string text{};  ///< the content of the file

  friend bool operator==(const RootFile&, const RootFile&) = default;

  static constexpr void fields(auto& list) {
    list("path", &RootFile::path, required);
    list("text", &RootFile::text);
  }
};

/// The CUDA driver library that an image contains for older drivers. The dynamic linker should use
/// this library when it is newer than the host's driver.
struct CudaCompat {
  std::string folder{};               ///< the absolute path with `libcuda.so.*.*`
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
/// last, so that a mode applies to a new file from `files`. `write_json` and `read_json` write and
/// read this described type.
struct RootChanges {
  std::vector<RootLink> links{};               ///< links to create
  std::vector<RootMode> modes{};               ///< modes to set
  std::vector<RootFile> files{};               ///< files to write
  std::vector<CudaCompat> cuda_compat{};       ///< linker directories, used if they are newer
  std::vector<std::string> library_folders{};  ///< linker directories, for ld.so.conf.d or musl
  /// Whether the container gets `params_mount`, whose file must be written outside the root, with
  /// the text of `masked_params`.
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

/// Adds the changes of `some` to `all`. No change is added twice; of two changes to the same path,
/// the later one wins. Costs one sort of all changes.
void merge(RootChanges& all, const RootChanges& some);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/nvidia/root_changes.inl>
#endif

#endif  // CDI_NVIDIA_ROOT_CHANGES_HPP
