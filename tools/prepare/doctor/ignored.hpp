// Reports files that look like specs but are ignored by engines.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/findings/spec_dirs.hpp"
#include "../../kit/cdi_specs/ignored_specs.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare::doctor {

inline Finding finding_of(const tools::IgnoredSpec& ignored) {
  auto advice = ignored.remedy + ".";
  advice.front() = static_cast<char>(std::toupper(advice.front()));
  return {Level::note, "specs", fmt::format("{} is ignored: {}", ignored.path, ignored.why),
          std::move(advice)};
}

/// Reports the files that `tools::ignored_specs` finds, under the root.
inline void check_ignored(const tools::HostTree& tree, const std::vector<std::string>& dirs,
                          Findings& findings) {
  std::set<std::string> seen;
  for (const auto& directory : dirs) seen.insert(place_of(tree, directory));
  for (const auto& directory : seen) {
    for (const auto& name : tree.list(directory)) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto readable = tools::readable_name(name);
      const auto mode = tree.status(path).st_mode;
      if (name.starts_with('.') || seen.contains(place_of(tree, path))) continue;
      if (S_ISREG(mode) && !readable.empty()) {
        const bool taken = tree.exists(fmt::format("{}/{}", directory, readable));
        findings.push_back(finding_of(tools::ignored_file(path, readable, taken)));
      }
      if (!S_ISDIR(mode) || cdi::format_of(name)) continue;
      auto names = tree.list(path);
      std::erase_if(names, [](const auto& inner) { return !tools::is_like_spec(inner); });
      if (names.empty()) continue;
      const bool taken = std::any_of(names.begin(), names.end(), [&](const auto& inner) {
        return tree.exists(fmt::format("{}/{}", directory, tools::name_to_read(inner)));
      });
      findings.push_back(finding_of(tools::ignored_directory(path, directory, names, taken)));
    }
  }
}

}  // namespace prepare::doctor
