// The error about an unreadable root.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_BASE_ROOT_FAULT_HPP
#define CDI_TOOLS_GPU_BASE_ROOT_FAULT_HPP

#include <string>

#include <cdi/result.hpp>

namespace prepare {

/// An error with the root in front.
inline cdi::Error cannot_read_root(const std::string& root, cdi::Error error) {
  error.message.insert(0, "cannot read --root " + root + ": ");
  return error;
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_BASE_ROOT_FAULT_HPP
