// A device node for containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include "../../kit/host/host_tree.hpp"
#include "profile.hpp"

namespace prepare {

/// A device node that containers get.
struct Node : tools::HostNode {
  std::string by_path{};             // its link in /dev/dri/by-path; needs udev on the host
  bool is_on_host = true;            // otherwise runtimes create it from its numbers
  Profiles profiles = all_profiles;  // that get the node
  bool is_optional = false;          // otherwise its profiles require it

  /// Whether specs for some profiles must contain the node.
  bool is_needed_by(Profiles requested) const {
    return !is_optional && is_needed(profiles, requested);
  }
};

}  // namespace prepare
