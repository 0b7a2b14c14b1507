// Commands about a claim, for people to paste.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <cdi/base/shell_word.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"
#include "claim.hpp"

namespace prepare {

/// The command that prepares a claim again, and queries NVIDIA's library for the sizes of its
/// partitions.
inline std::string recheck_command(const tools::HostTree& tree, const Claim& claim,
                                   const std::string& state_dir) {
  std::vector<std::string> arguments{"--claim " + cdi::shell_word(claim.uid)};
  if (tree.root() == "/") arguments.emplace_back("--nvml");  // which asks about this host only
  for (const auto& device : claim.devices) {
    const auto request = device.request.empty() ? "" : "@" + device.request;
    auto argument = "--device " + cdi::shell_word(device.requested + request);
    if (std::find(arguments.begin(), arguments.end(), argument) == arguments.end()) {
      arguments.push_back(std::move(argument));  // `all` stands for several devices
    }
  }
  arguments.push_back("--state-dir " + cdi::shell_word(state_dir));
  return command_with(tree, "prepare", arguments);
}

}  // namespace prepare
