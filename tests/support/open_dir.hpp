// Opens a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <fcntl.h>
#include <string>

#include <cdi/files/descriptor.hpp>

inline cdi::Descriptor open_dir(const std::string& path) {
  return cdi::Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}
