// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_CHECK_COMMAND_HPP
#define CDI_PREPARE_CHECK_COMMAND_HPP

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>

#include "exit_codes.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report.hpp"
#include "spec_changes.hpp"
#include "specs.hpp"
#include "survey.hpp"
#include "write_command.hpp"

namespace prepare {

/// A spec file that is not what it would be now.
struct Stale {
  std::string path{};
  std::string reason{};
  std::vector<Change> changes{};
};

/// The difference between a spec file and the spec that it would be now; none when it is that.
inline std::optional<Stale> compare(const std::string& path, const PreparedSpec& prepared,
                                    const Options& options) {
  const auto there = cdi::read_spec_file(path);
  if (!there && there.error().system == ENOENT) return Stale{path, "it is not there", {}};
  if (!there) return Stale{path, cdi::to_string(there.error()), {}};
  auto found = changes(there->spec, owned(prepared.spec, options));
  if (found.empty()) return std::nullopt;
  return Stale{path, "the host has changed", std::move(found)};
}

/// The files of ours for kinds of which the host has nothing any more.
inline cdi::Result<std::vector<Stale>> outdated_files(const Survey& survey,
                                                      const Options& options) {
  std::vector<Stale> out;
  const auto ours = cdi::Publisher{spec_owner, options.output_dir}.files();
  if (!ours) return ours.error();
  for (const auto& name : *ours) {
    const auto is_its = [&](const Inventory& found) {
      return file_name(found.kind) == name;
    };
    const auto& kinds = survey.inventories;
    if (std::any_of(kinds.begin(), kinds.end(), is_its)) continue;
    out.push_back({spec_path(options, name), "the host has no such GPU any more", {}});
  }
  return out;
}

inline Json to_json(const std::vector<Stale>& stale) {
  Json list = Json::array();
  for (const auto& [path, reason, changes] : stale) {
    Json lines = Json::array();
    for (const auto& change : changes) lines.push_back(to_text(change));
    list.push_back(Json{{"path", path}, {"reason", reason}, {"changes", lines}});
  }
  return {{"stale", list}};
}

/// The files and their changes; of `check` only those of the annotations, which tell the cause.
inline std::string to_text(const std::vector<Stale>& stale, bool all_changes) {
  std::string out;
  for (const auto& [path, reason, changes] : stale) {
    out += fmt::format("{}: {}\n", path, reason);
    std::size_t hidden = 0;
    for (const auto& change : changes) {
      const bool shown = all_changes || change.where.starts_with("annotation ");
      if (shown) out += "  " + to_text(change) + "\n";
      hidden += shown ? 0U : 1U;
    }
    if (hidden > 0) out += fmt::format("  and {} more: `cdi-prepare diff` has them\n", hidden);
  }
  return out;
}

/// Compares the spec files with those that `write` would make now. Nothing is written.
inline ExitCode check_specs(const Survey& survey, const Options& options, bool all_changes) {
  const auto prepared = prepare_specs(survey, options);
  print_error(prepared.complaints);
  if (prepared.held_back) return prepared.code;
  auto stale = outdated_files(survey, options);
  if (!stale) return finish(stale.error(), ExitCode::failed);
  for (const auto& one : prepared.specs) {
    auto found = compare(spec_path(options, one.file_name), one, options);
    if (found) stale->push_back(std::move(*found));
  }
  return finish(options.json() ? json_text(to_json(*stale)) : to_text(*stale, all_changes),
                stale->empty() ? prepared.code : ExitCode::failed);
}

}  // namespace prepare

#endif  // CDI_PREPARE_CHECK_COMMAND_HPP
