// A file of a GPU driver that containers get.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_DRIVER_FILE_HPP
#define CDI_PREPARE_GPU_DRIVER_FILE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "profile.hpp"

namespace prepare {

/// A file of a driver that containers get in addition to the nodes.
struct DriverFile {
  enum class Kind : std::uint8_t { library, program, firmware, configuration, socket };

  Kind kind = Kind::library;
  std::string host_path{};           // below the root; no part of it is a link
  std::string container_path{};      // where programs look for it
  std::vector<std::string> links{};  // more such paths: its SONAME, "libcuda.so"
  Profiles profiles = all_profiles;  // that need it
};

/// The directory of a file in the container.
inline std::string directory_of(const DriverFile& file) {
  return file.container_path.substr(0, file.container_path.rfind('/'));
}

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_DRIVER_FILE_HPP
