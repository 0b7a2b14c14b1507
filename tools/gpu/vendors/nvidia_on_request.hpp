// Finds kinds of NVIDIA's nodes that specs contain only with `--kind`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../../kit/host/host_tree.hpp"
#include "../model/gpu.hpp"

// They reach beyond one GPU: storage, network, switches, channels to other hosts, or all GPUs at
// once. Kinds and devices are named as in `nvidia-ctk cdi generate --mode`.

namespace prepare::on_request {

/// GPUDirect Storage.
Inventory storage(const tools::HostTree& tree);

/// GPUDirect RDMA memory copies.
Inventory copies(const tools::HostTree& tree);

/// NVSwitches.
Inventory switches(const tools::HostTree& tree);

/// InfiniBand and RoCE.
Inventory network(const tools::HostTree& tree);

/// IMEX channels, through which GPUs of other hosts share memory. The name of a channel is its
/// number.
Inventory channels(const tools::HostTree& tree);

/// Whether programs that manage GPUs need no such node: they belong to the kinds above.
bool is_of_other_kind(const Node& node);

/// All GPUs at once, with the nodes that configure them, for programs that manage a host.
Inventory management(const tools::HostTree& tree);

/// A kind, how it is found, and the message if it is not found.
struct Kind {
  std::string_view name;
  Inventory (*detect)(const tools::HostTree&);  // leaves the kind empty
  std::string_view if_none;
};

inline constexpr Kind kinds[] = {
    {"management.nvidia.com/gpu", management, "no /dev/nvidia*: is the module nvidia loaded?"},
    {"nvidia.com/gds", storage, "no /dev/nvidia-fs*: is the module nvidia-fs loaded?"},
    {"nvidia.com/gdrcopy", copies, "no /dev/gdrdrv: is the module gdrdrv loaded?"},
    {"nvidia.com/imex-channel", channels,
     "no /dev/nvidia-caps-imex-channels/channel*: were channels created, and is the module nvidia "
     "loaded?"},
    {"nvidia.com/mofed", network,
     "no uverbs* in /sys/class/infiniband_verbs: is the module ib_uverbs loaded?"},
    {"nvidia.com/nvswitch", switches,
     "no /dev/nvidia-nvswitch*: does the host have NVSwitches, and is the module nvidia loaded?"},
};

/// Whether a kind is one of these.
bool is_kind(std::string_view kind);

/// The inventory of a kind, if it is one of these; without GPUs if the host lacks it.
std::optional<Inventory> detect(const tools::HostTree& tree, std::string_view kind);

/// Why the inventory of one of these kinds has no GPU.
std::string why_none(const Inventory& found);

}  // namespace prepare::on_request
