// Reads one spec file, and writes one so that a crash leaves the old file or the new one.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILE_HPP
#define CDI_FILE_HPP

#include <cdi/files/file.hpp>  // IWYU pragma: export

#endif  // CDI_FILE_HPP
