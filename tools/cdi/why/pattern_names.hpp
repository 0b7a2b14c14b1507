// Expands the patterns of `cdi why` to names, wherever files define them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry.hpp>
#include <cdi/scan.hpp>
#include <cdi/spec_text.hpp>

#include "../../kit/base/glob.hpp"
#include "../../kit/cdi_specs/diagnose.hpp"
#include "../../kit/cdi_specs/ignored_specs.hpp"
#include "../base/globs.hpp"

/// Where `tools::diagnose` finds devices that programs do not find.
class UnreadFiles {
 public:
  /// Looks for what programs ignore in the directories of a registry, and for `other_dirs`.
  UnreadFiles(const cdi::Registry& registry, std::vector<std::string> other_dirs)
      : dirs_{std::move(other_dirs)} {
    std::vector<std::string> searched;
    for (const auto& dir : registry.dirs()) searched.push_back(dir.path);
    for (const auto& dir : add_ignored(searched)) add_ignored({dir});
  }

  /// The names of devices in ignored files, and in directories that are not searched.
  std::vector<std::vector<std::string>> names(const cdi::ReadOptions& reading) const {
    std::vector<cdi::SpecText> texts;
    for (const auto& path : files_) {
      auto text = cdi::read_file(path, reading.limits.bytes);
      if (text) texts.push_back({.name = path, .text = *std::move(text)});
    }
    return {detail::defined_names(cdi::make_registry(std::move(texts), reading)),
            detail::defined_names(*cdi::scan_spec_dirs(dirs_, reading))};
  }

 private:
  /// Adds what programs ignore in directories; returns the ignored directories.
  std::vector<std::string> add_ignored(const std::vector<std::string>& dirs) {
    std::vector<std::string> inner;
    for (auto& one : tools::ignored_specs(dirs)) {
      (one.directory ? inner : files_).push_back(std::move(one.path));
    }
    dirs_.insert(dirs_.end(), inner.begin(), inner.end());
    return inner;
  }

  std::vector<std::string> dirs_;
  std::vector<std::string> files_{};
};

/// Replaces each pattern by the names of the devices that it matches in files of the registry,
/// whether they resolve or not; if there are none, by matches that `tools::diagnose` finds
/// elsewhere.
inline ExpandedNames expand_for_why(const std::vector<std::string>& names,
                                    const cdi::Registry& registry,
                                    const std::vector<std::string>& other_dirs,
                                    const cdi::ReadOptions& reading) {
  if (std::none_of(names.begin(), names.end(), is_glob)) return {.names = names};
  GlobSearch search{
      .lists = {detail::defined_names(registry)}, .explain = [&](const auto& name) {
        return std::move(tools::diagnose(registry, {name}, other_dirs, reading).front());
      }};
  const auto matches_none = [&](const std::string& name) {
    if (!is_glob(name)) return false;
    const auto glob = tools::Glob::parse(name);
    return glob && detail::matching_names(*glob, search).empty();
  };
  if (std::any_of(names.begin(), names.end(), matches_none)) {
    const UnreadFiles unread{registry, other_dirs};
    for (auto& list : unread.names(reading)) search.lists.push_back(std::move(list));
  }
  return expand_names(names, registry, search);
}
