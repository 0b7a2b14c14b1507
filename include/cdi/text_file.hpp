// Reads a whole file, which is opened once and checked by its descriptor.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_FILE_HPP
#define CDI_TEXT_FILE_HPP

#include <cdi/files/text_file.hpp>  // IWYU pragma: export

#endif  // CDI_TEXT_FILE_HPP
