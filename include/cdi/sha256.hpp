// `sha256`, for `ReadOptions::digest`. Needs libcrypto.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SHA256_HPP
#define CDI_SHA256_HPP

#include <cdi/files/sha256.hpp>  // IWYU pragma: export

#endif  // CDI_SHA256_HPP
