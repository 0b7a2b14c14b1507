// Opens a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TESTS_OPEN_DIR_HPP
#define CDI_TESTS_OPEN_DIR_HPP

#include <fcntl.h>
#include <string>

#include <cdi/files/descriptor.hpp>

inline cdi::Descriptor open_dir(const std::string& path) {
  return cdi::Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

#endif  // CDI_TESTS_OPEN_DIR_HPP
