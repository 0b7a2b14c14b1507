// Keeps an old spec whose libraries are gone, and says why.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../../kit/cdi_specs/lost_files.hpp"
#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../model/gpu.hpp"
#include "kept_options.hpp"

// This is the same for each vendor. Only NVIDIA's libraries must have the version of the module,
// which detection compares.

namespace prepare {

/// `nvidia.com/gpu` is written to nvidia.com-gpu.yaml, or with `--format json` to
/// nvidia.com-gpu.json.
inline std::string file_name(std::string_view kind, const Options& options) {
  return *cdi::spec_name(kind) + "." + options.format;
}

/// The name of the file with the same kind in the other format.
inline std::string name_in_other_format(const std::string& name) {
  const auto dot = name.rfind('.');
  return name.substr(0, dot) + (name.substr(dot) == ".yaml" ? ".json" : ".yaml");
}

/// The driver files that a spec for these devices would mount now.
inline std::vector<tools::FileMount> file_mounts(const Inventory& found) {
  std::vector<tools::FileMount> out;
  for (const auto& file : found.files) out.push_back({file.host_path, file.container_path});
  tools::add_file_mounts(found.edits, out);
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) tools::add_file_mounts(share.edits, out);
  }
  return out;
}

/// The kinds that an earlier spec of the same devices may have: a WSL device is NVIDIA's as long as
/// NVIDIA's library is there.
inline std::vector<std::string> kinds_of_specs(const Inventory& found) {
  if (found.kind == "microsoft.com/gpu") return {found.kind, "nvidia.com/gpu"};
  return {found.kind};
}

/// The error about a lost driver file that the present spec mounts.
inline cdi::Error lost_error(const std::string& lost, const Inventory* found,
                             std::string_view repeat) {
  std::string what = lost + " is gone";
  const auto is_known = [](const Problem& one) {
    return one.fault == Fault::no_libcuda;
  };
  if (found != nullptr) {
    const auto& known = found->warnings;
    const auto problem = std::find_if(known.begin(), known.end(), is_known);
    if (problem != known.end()) what = problem->text;
  }
  return {.code = cdi::Errc::host,
          .message = what + ", and the spec that has it stays",
          .advice = fmt::format("{}; {}", tools::libraries_remedy_clause(), repeat)};
}

/// The driver file that the present spec has, the host lost, and nothing in `now` replaces. The
/// libraries of another driver root are not lost.
inline std::optional<std::string> lost_from_spec(const tools::HostTree& tree, const cdi::Spec& now,
                                                 const Inventory& found, const Options& options) {
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory || !directory->descriptor) return std::nullopt;
  for (const auto& kind : kinds_of_specs(found)) {
    const auto own = file_name(kind, options);
    for (const auto& name : {own, name_in_other_format(own)}) {
      const auto old = read_with_options(directory->path_of(name));
      if (!old) continue;
      const auto recorded = tools::recorded_options(old->spec).value_or(tools::WriteOptions{});
      if (recorded.driver_root != options.driver_root) continue;
      auto lost = tools::lost_driver_file(tree, old->spec, tools::file_mounts(now));
      if (lost) return lost;
    }
  }
  return std::nullopt;
}

/// Why a spec would lose the libraries that its file has; nullopt if it would not. With `--force`,
/// it may.
inline std::optional<cdi::Error> lost_libraries(const tools::HostTree& tree, const cdi::Spec& now,
                                                const Inventory& found, const Options& options) {
  if (options.force) return std::nullopt;
  const auto lost = lost_from_spec(tree, now, found, options);
  if (!lost) return std::nullopt;
  return lost_error(*lost, &found, "then run `write`; with --force, it writes a spec without them");
}

}  // namespace prepare
