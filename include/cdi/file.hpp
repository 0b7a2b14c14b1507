// Reads and writes a spec file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILE_HPP
#define CDI_FILE_HPP

#include <cdi/files/file.hpp>          // IWYU pragma: export
#include <cdi/files/read_options.hpp>  // IWYU pragma: export

#endif  // CDI_FILE_HPP
