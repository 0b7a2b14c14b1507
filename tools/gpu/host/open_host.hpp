// Opens the host of a command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cdi/result.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"

namespace prepare {

/// The tree under the root of a command.
inline cdi::Result<tools::HostTree> open_host(const HostOptions& options) {
  auto tree = tools::HostTree::open(options.root, options.log);
  if (!tree) tree.error().message.insert(0, "cannot read --root " + options.root + ": ");
  return tree;
}

}  // namespace prepare
