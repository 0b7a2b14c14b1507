// Opens the host of a command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_HOST_OPEN_HOST_HPP
#define CDI_TOOLS_PREPARE_HOST_OPEN_HOST_HPP

#include <memory>
#include <utility>

#include <cdi/result.hpp>

#include "../../shared/host/host_tree.hpp"
#include "../base/options.hpp"

namespace prepare {

/// The tree under the root of a command. Records what is looked at in `trail`, which may be null.
inline cdi::Result<tools::HostTree> open_host(const HostOptions& options,
                                              std::shared_ptr<tools::Trail> trail = nullptr) {
  auto tree = tools::HostTree::open(options.root, std::move(trail));
  if (!tree) return tree;
  tree->set_shown_root(options.archive);
  tree->set_log(options.log);
  return tree;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_HOST_OPEN_HOST_HPP
