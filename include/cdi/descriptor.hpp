// `Descriptor`: owns a file descriptor; and errors of system calls.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DESCRIPTOR_HPP
#define CDI_DESCRIPTOR_HPP

#include <cdi/files/descriptor.hpp>  // IWYU pragma: export

#endif  // CDI_DESCRIPTOR_HPP
