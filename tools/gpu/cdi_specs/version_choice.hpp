// Chooses the CDI version of specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/minimum_version.hpp>
#include <cdi/result.hpp>

#include "../../kit/engines/engines.hpp"
#include "../../kit/engines/installed_versions.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/options.hpp"
#include "../survey/survey.hpp"

// An engine rejects files with an unknown CDI version, so the oldest engine decides.

namespace prepare {

/// Programs are run only for this machine.
inline tools::VersionsFrom versions_from(const HostOptions& options) {
  return options.root == "/" ? tools::VersionsFrom::programs : tools::VersionsFrom::packages;
}

/// Limits the CDI version of specs to the newest that an engine reads. An error if the engine reads
/// no specs.
inline cdi::Result<void> limit_version(Options& options, const tools::VersionedEngine& engine) {
  const auto version = tools::written_spec_version_for(engine);
  if (!version) return version.error();
  if (options.max_version && *options.max_version <= *version) return {};
  options.max_version = *version;
  options.oldest_engine = to_string(engine);
  return {};
}

/// The CDI version of converted specs, and the engine that decided.
inline std::string reason_for_version(const Options& options) {
  return fmt::format(
      "written in CDI {}, the newest version that {} reads; --for or --max-version chooses another",
      cdi::to_string(*options.max_version), options.oldest_engine);
}

/// Options with the CDI version for specs, and warnings about engines.
struct VersionChoice {
  Options options{};
  std::vector<std::string> warnings{};
  bool knows_all_versions = true;  // otherwise an engine may read only older versions
};

/// The options with the CDI version of the oldest installed engine. Unchanged if a version or
/// engines were passed. Ignores engines that read no specs, have CDI switched off or have an
/// unknown version, for which a warning has `advice`: without one, it is to give --for.
inline VersionChoice version_for_engines(const tools::HostTree& tree, const Options& given,
                                         tools::EngineVersions& versions,
                                         std::string_view advice = {}) {
  VersionChoice choice{.options = given};
  if (given.max_version) return choice;
  for (const auto& engine : versions.engines(tree)) {
    if (engine.cdi == tools::Engine::Cdi::off) continue;
    if (engine.version) {
      const auto converted = limit_version(choice.options, engine.of_version());
      if (!converted)
        choice.warnings.push_back(converted.error().message +
                                  ": its containers get no "
                                  "device");
    } else if (!engine.version_fault.empty()) {
      choice.knows_all_versions = false;
      choice.warnings.push_back(
          fmt::format("{}: its version is unknown, so specs may be too new for it ({}): {}",
                      engine.name, engine.version_fault,
                      advice.empty() ? fmt::format("give --for {}@VERSION", engine.name)
                                     : std::string{advice}));
    }
  }
  return choice;
}

/// As `version_for_engines`, but unchanged if there are no GPUs.
inline VersionChoice choose_version(const Survey& survey, const Options& given,
                                    tools::EngineVersions& versions) {
  if (survey.inventories.empty()) return {.options = given};
  return version_for_engines(survey.tree, given, versions);
}

inline VersionChoice choose_version(const Survey& survey, const Options& given) {
  tools::EngineVersions versions{versions_from(given)};
  return choose_version(survey, given, versions);
}

}  // namespace prepare
