// The GPUs on a host as text and as results.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../gpu/model/gpu.hpp"
#include "../results.hpp"

namespace prepare {

/// The devices of each kind.
std::vector<ShownKind> shown(const std::vector<Inventory>& inventories);

/// The result of `detect` as JSON.
std::string model_as_json(const std::vector<Inventory>& inventories);

std::string to_text(const Node& node);

/// A line for each node, after the heading; empty without nodes.
std::string to_text(std::string_view heading, const std::vector<Node>& nodes);

/// A line with the name, model and location of a GPU.
std::string heading(const Gpu& gpu);

std::string to_text(const Gpu& gpu);

/// All GPUs as text.
std::string model_as_text(const std::vector<Inventory>& inventories);

/// The qualified names of the devices of a spec.
std::vector<std::string> qualified_names(const cdi::Spec& spec);

/// How many devices of a survey a spec has, and under how many names: "1 device, 4 names".
std::string counts_of(const cdi::Spec& spec, const std::vector<Inventory>& inventories);

}  // namespace prepare
