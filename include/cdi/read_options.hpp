// `ReadOptions`: limits, quarantine, patience and policy of reading spec files.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_READ_OPTIONS_HPP
#define CDI_READ_OPTIONS_HPP

#include <cdi/files/read_options.hpp>  // IWYU pragma: export

#endif  // CDI_READ_OPTIONS_HPP
