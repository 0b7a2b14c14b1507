// Replaces a file so that a crash leaves the old one or the new one.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REPLACE_FILE_HPP
#define CDI_REPLACE_FILE_HPP

#include <cdi/files/replace_file.hpp>  // IWYU pragma: export

#endif  // CDI_REPLACE_FILE_HPP
