// Finds conflicts with spec files of other programs that define the same devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/file.hpp>
#include <cdi/name.hpp>
#include <cdi/spec.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "lost_libraries.hpp"
#include "prepared_spec.hpp"
#include "spec_file.hpp"

// Engines do not resolve a device that two files in one directory define.

namespace prepare {

/// Why two specs in one directory conflict; nullopt if they share no device.
inline std::optional<std::string> conflict_of(const cdi::Spec& ours, const cdi::Spec& other,
                                              std::string_view path) {
  if (ours.kind != other.kind) return std::nullopt;
  std::vector<std::string> shared;
  for (const auto& device : ours.devices) {
    const auto same = [&](const cdi::Device& its) {
      return its.name == device.name;
    };
    if (std::any_of(other.devices.begin(), other.devices.end(), same)) {
      shared.push_back(cdi::qualified_name(ours.kind, device.name));
    }
  }
  if (shared.empty()) return std::nullopt;
  return fmt::format(
      "{} also defines {}: engines do not resolve a name that two files define; remove one of "
      "them",
      path, tools::listed(shared, 1));
}

/// The conflicts between specs and other files in their directory that stay. Only files that
/// contain the name of a kind are parsed.
inline std::vector<std::string> find_conflicts(const Options& options,
                                               const std::vector<PreparedSpec>& prepared) {
  std::vector<std::string> out;
  const auto tree = tools::HostTree::open(options.output_dir);
  if (!tree) return out;
  for (const auto& name : tree->list("/")) {
    const auto format = cdi::format_of(name);
    const auto is_its = [&](const PreparedSpec& one) {
      return one.file_name == name;
    };
    if (!format || std::any_of(prepared.begin(), prepared.end(), is_its)) continue;
    const auto text = tree->read(name, cdi::Limits{}.bytes);
    if (!text) continue;
    const auto path = spec_path(options, name);
    for (const auto& one : prepared) {
      if (text->find(one.spec.kind) == std::string::npos) continue;
      const auto other = cdi::parse_spec(*text, path, *format);
      if (!other) break;
      const bool is_replaced =
          name == name_in_other_format(one.file_name) && other->owner() == tools::spec_owner;
      if (is_replaced) continue;
      if (auto conflict = conflict_of(one.spec, other->spec, path))
        out.push_back(std::move(*conflict));
    }
  }
  return out;
}

}  // namespace prepare
