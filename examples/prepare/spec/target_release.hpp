// The CDI release that specs are written in.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_SPEC_TARGET_RELEASE_HPP
#define CDI_PREPARE_SPEC_TARGET_RELEASE_HPP

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/engine_releases.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/result.hpp>

#include "../base/options.hpp"
#include "../engines/engine_versions.hpp"
#include "../engines/engines.hpp"
#include "../vendors/survey.hpp"

// An engine refuses a file of a release that it does not know, so the oldest engine decides.

namespace prepare {

/// Programs are run only on this machine.
inline VersionsFrom versions_from(const Options& options) {
  return options.root == "/" ? VersionsFrom::programs : VersionsFrom::packages;
}

/// Lowers the release of specs to the newest that an engine reads. An error when it reads none.
inline cdi::Result<void> lower_release(Options& options, const cdi::VersionedEngine& engine) {
  const auto release = cdi::written_release_for(engine);
  if (!release) return release.error();
  if (options.max_version && *options.max_version <= *release) return {};
  options.max_version = *release;
  options.oldest_engine = to_string(engine);
  return {};
}

/// The release of lowered specs, and the engine that decided.
inline std::string reason_for_release(const Options& options) {
  return fmt::format(
      "written in CDI {}, the newest release that {} reads; --for or --max-version chooses another",
      cdi::to_string(*options.max_version), options.oldest_engine);
}

/// Options with the release of specs, and warnings about engines.
struct Target {
  Options options{};
  std::vector<std::string> warnings{};
  bool knows_all_versions = true;  // else an engine may read only older releases
};

/// The options with the release of the oldest installed engine. They do not change when a release
/// or engines are given, or when there are no GPUs. Engines that read no specs, have CDI switched
/// off or are of an unknown version do not count.
inline Target find_target(const Survey& survey, const Options& given, EngineVersions& versions) {
  Target target{.options = given};
  if (given.max_version || survey.inventories.empty()) return target;
  for (const auto& engine : versions.engines(survey.tree)) {
    if (engine.cdi == Engine::Cdi::off) continue;
    if (engine.version) {
      const auto lowered = lower_release(target.options, engine.of_version());
      if (!lowered)
        target.warnings.push_back(lowered.error().message +
                                  ": its containers get no "
                                  "device");
    } else if (!engine.version_fault.empty()) {
      target.knows_all_versions = false;
      target.warnings.push_back(fmt::format(
          "{}: its version is unknown, so specs may be too new for it ({}): give --for {}@VERSION",
          engine.name, engine.version_fault, engine.name));
    }
  }
  return target;
}

inline Target find_target(const Survey& survey, const Options& given) {
  EngineVersions versions{versions_from(given)};
  return find_target(survey, given, versions);
}

}  // namespace prepare

#endif  // CDI_PREPARE_SPEC_TARGET_RELEASE_HPP
