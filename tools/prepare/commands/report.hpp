// The GPUs on a host as text and JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_REPORT_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_REPORT_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../gpu/base/json_output.hpp"
#include "../../gpu/model/fault.hpp"
#include "../../gpu/model/gpu.hpp"

namespace prepare {

Json text_of(const std::optional<Problem>& problem);

Json to_json(const Node& node);

Json to_json(const std::vector<Node>& nodes);

Json to_json(const Gpu& gpu);

Json to_json(const std::vector<DriverFile>& files);

Json to_json(const Inventory& found);

/// All GPUs by kind.
Json vendors_json(const std::vector<Inventory>& inventories);

/// All GPUs: `{"version": 1, "vendors": [...]}`.
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

#endif  // CDI_TOOLS_PREPARE_COMMANDS_REPORT_HPP
