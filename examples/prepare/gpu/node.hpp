// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_GPU_NODE_HPP
#define CDI_PREPARE_GPU_NODE_HPP

#include <string>

#include "../host/host_tree.hpp"
#include "profile.hpp"

namespace prepare {

/// A device node that containers get.
struct Node : HostNode {
  std::string by_path{};   // its link in /dev/dri/by-path, which hosts without udev do not have
  bool is_on_host = true;  // else a runtime can make it from its numbers
  Profiles profiles = all_profiles;  // that need it
};

}  // namespace prepare

#endif  // CDI_PREPARE_GPU_NODE_HPP
