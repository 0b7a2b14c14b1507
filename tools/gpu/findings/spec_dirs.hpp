// The spec directories of a host, and the files in them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/registry.hpp>
#include <cdi/text/document.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare::doctor {

/// Reads the spec files in directories under the root, like `cdi::scan_spec_dirs`, except that no
/// link leads out of the root. The specs contain the positions of their members.
inline cdi::Registry read_specs(const tools::HostTree& tree, const std::vector<std::string>& dirs) {
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  std::vector<std::shared_ptr<const cdi::RejectedFile>> rejected;
  std::set<std::string> seen;
  int priority = 0;
  for (const auto& directory : dirs) {
    if (!seen.insert(place_of(tree, directory)).second) continue;
    ++priority;
    for (const auto& name : tree.list(directory)) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto format = cdi::format_of(name);
      if (!format || S_ISDIR(tree.status(path).st_mode)) continue;
      const auto text = tree.read(path, cdi::Limits{}.bytes);
      auto spec = text ? cdi::parse_spec(*text, path, *format) : text.error();
      if (spec) {
        spec->priority = priority;
        specs.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(*spec)));
      } else {
        rejected.push_back(
            std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{.why = spec.error()}));
      }
    }
  }
  return cdi::Registry{std::move(specs), std::move(rejected)};
}

}  // namespace prepare::doctor
