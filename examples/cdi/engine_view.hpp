// Spec files as a container engine sees them: it refuses those of newer CDI releases.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_ENGINE_VIEW_HPP
#define CDI_EXAMPLES_CDI_ENGINE_VIEW_HPP

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "output.hpp"

/// Why an engine is not valid for `--for` of `why`; empty if it is, even if it reads no specs.
inline std::string engine_name_error(const std::string& engine) {
  const auto parsed = cdi::parse_engine(engine);
  return parsed ? std::string{} : parsed.error().message;
}

/// The files of a registry that an engine reads.
class EngineView {
 public:
  EngineView(const cdi::VersionedEngine& engine, const cdi::Registry& all)
      : engine_{engine}, newest_{cdi::newest_release_for(engine)} {
    std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
    auto rejected = all.rejected();
    for (const auto& spec : all.specs()) {
      if (reads(*spec)) {
        specs.push_back(spec);
      } else {
        rejected.push_back(std::make_shared<const cdi::RejectedFile>(refuse(*spec)));
        refused_.insert(spec->path);
      }
    }
    registry_ =
        std::make_shared<const cdi::Registry>(std::move(specs), std::move(rejected), all.dirs());
  }

  /// The registry of the engine: files that it refuses are among the rejected ones.
  const std::shared_ptr<const cdi::Registry>& registry() const { return registry_; }

  std::string name() const { return to_string(engine_); }

  /// The newest release that it reads, or null.
  Json newest() const { return newest_ ? Json(cdi::to_string(*newest_)) : Json(nullptr); }

  /// Whether a name is not resolved because the engine refuses a file.
  bool is_cause_of(const cdi::Unresolved& one) const {
    return std::any_of(one.causes.begin(), one.causes.end(), [&](const cdi::Error& cause) {
      return refused_.contains(cause.position.file);
    });
  }

  /// What to do if the engine refuses a file.
  std::string advice() const {
    if (!newest_)
      return fmt::format("update {}: this version does not inject CDI devices", engine_.name);
    return fmt::format(
        "convert the file, for example by `cdi convert --for {}@{} FILE`, or update "
        "{}",
        engine_.name, to_string(engine_.version), engine_.name);
  }

 private:
  bool reads(const cdi::LoadedSpec& spec) const {
    const auto release = cdi::parse_release(spec.spec.version);
    return newest_ && release && *release <= *newest_;
  }

  cdi::RejectedFile refuse(const cdi::LoadedSpec& spec) const {
    cdi::Error why{.code = cdi::Errc::unsupported, .where = "cdiVersion"};
    if (newest_) {
      why.message = fmt::format("version {} is newer than {}, the newest that {} reads",
                                cdi::quoted(spec.spec.version), cdi::to_string(*newest_), name());
    } else {
      why.message = newest_.error().message;
    }
    why.position = spec.locate(why.where);
    cdi::RejectedFile out{.why = std::move(why), .kind = spec.spec.kind};
    for (const auto& device : spec.spec.devices) out.devices.push_back(device.name);
    return out;
  }

  cdi::VersionedEngine engine_;
  cdi::Result<cdi::Release> newest_;
  std::shared_ptr<const cdi::Registry> registry_{};
  std::set<std::string> refused_{};
};

#endif  // CDI_EXAMPLES_CDI_ENGINE_VIEW_HPP
