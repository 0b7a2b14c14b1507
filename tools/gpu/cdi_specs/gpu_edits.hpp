// GPUs as CDI edits and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <vector>

#include "../model/gpu.hpp"
#include "../model/node.hpp"
#include "../model/profile.hpp"
#include "../vendors/nvidia_hooks.hpp"

namespace prepare {

/// Options that determine the content of specs.
struct SpecOptions {
  Profiles profiles = all_profiles;  // of the containers
  bool ask_host = false;      // leave out device numbers, for which runtimes then query the host
  bool library_path = false;  // set LD_LIBRARY_PATH, overriding the image's
  bool all_device = true;     // the device `all`
  std::optional<nvidia::HookProgram> hook_program{};  // creates links instead of mounts
};

/// Whether `shared_edits` omits a missing node, because containers work without it.
bool is_omitted(const Node& node, const SpecOptions& options);

/// Adds nodes to edits without duplicates, and the groups of nodes that not all users may open.
void add_nodes(cdi::ContainerEdits& edits, const std::vector<Node>& nodes,
               const SpecOptions& options);

/// Adds edits that are not in the list yet.
void merge(cdi::ContainerEdits& edits, const cdi::ContainerEdits& more);

/// The edits for every container with a GPU of the inventory.
cdi::ContainerEdits shared_edits(const Inventory& found, const SpecOptions& options);

/// The edits for a container that gets a GPU or a part of one.
cdi::ContainerEdits share_edits(const Share& share, const SpecOptions& options);

/// The CDI spec for the usable GPUs and partitions, without a version. Each gets devices for its
/// stable name, index, aliases and PCI address; "all" contains all of them except those that
/// `verify` will remove. Indexes include GPUs that are left out, so that a failed GPU does not
/// renumber the others.
cdi::Spec gpu_spec(const Inventory& found, const SpecOptions& options);

}  // namespace prepare
