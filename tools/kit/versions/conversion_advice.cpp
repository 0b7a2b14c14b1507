// `conversion_advice`: what to do about a spec file that an engine rejects.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "conversion_advice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/base/shell_word.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/owner.hpp>

#include "conversion.hpp"
#include "engine_versions.hpp"

namespace tools {

using namespace cdi;
using cdi::detail::advised_message;
using cdi::detail::first_with_annotations;
using cdi::detail::take_number;

namespace {

/// Returns the device that is lost as a whole; null for any other loss.
const Device* lost_device(const Error& loss, const LoadedSpec& loaded) {
  constexpr std::string_view begin = "devices[";
  std::string_view place = loss.where;
  std::uint32_t index = 0;
  if (!place.starts_with(begin)) return nullptr;
  place.remove_prefix(begin.size());
  const bool is_device =
      take_number(place, index) && place == "]" && index < loaded.spec.devices.size();
  return is_device ? &loaded.spec.devices[index] : nullptr;
}

/// Lists the losses: `device "0", devices[1].annotations and 3 more`.
std::string named_losses(const std::vector<Error>& losses, const LoadedSpec& loaded) {
  constexpr std::size_t named = 4;
  std::string out;
  for (std::size_t i = 0; i < losses.size() && i < named; ++i) {
    out.append(i == 0 ? "" : ", ");
    if (const auto* const device = lost_device(losses[i], loaded)) {
      out.append("device ").append(cdi::quoted(device->name));
    } else {
      out.append(losses[i].where.empty() ? "its other documents" : cdi::escaped(losses[i].where));
    }
  }
  if (losses.size() <= named) return out;
  return out.append(" and ").append(std::to_string(losses.size() - named)).append(" more");
}

/// The versions of an engine that read a file, from `first` to `last`, or to the newest version.
struct ReadingVersions {
  EngineVersion first{};
  std::optional<EngineVersion> last{};
};

/// Returns the newer engine versions that read a file: preferably the run that includes the newest
/// known version, otherwise the first run; nullopt when no known version reads the file.
std::optional<ReadingVersions> newer_versions_that_read(const VersionedEngine& engine,
                                                        const LoadedSpec& loaded) {
  std::optional<ReadingVersions> some;
  std::optional<ReadingVersions> run;
  for (const auto& row : engine_versions) {
    if (row.engine != engine.name || row.since <= engine.version) continue;
    if (rejection_by({row.engine, row.since}, loaded)) {
      if (!some) some = run;
      run.reset();
    } else {
      if (!run) run = ReadingVersions{.first = row.since};
      run->last = row.last;
    }
  }
  if (!run) return some;
  run->last.reset();
  return run;
}

/// Returns whether a future version of an engine may read a file: the file's version is newer than
/// the versions that known engine versions read, and the engine rejects no value in the file.
bool may_be_read_later(std::string_view engine, const Spec& spec) {
  SpecVersion newest;
  for (const auto& row : engine_versions) {
    if (row.engine == engine && newest < row.newest) newest = row.newest;
  }
  const auto own = cdi::parse_spec_version(spec.version);
  return own && newest < *own && !rejected_value(spec, *own);
}

/// Returns the advice to update an engine that rejects a file; empty when no update helps.
std::string update_advice(const VersionedEngine& engine, const LoadedSpec& loaded) {
  const auto update = std::string{"update "}.append(engine.name);
  if (const auto versions = newer_versions_that_read(engine, loaded)) {
    const auto first = to_string(versions->first);
    if (!versions->last) return update + " to " + first + " or newer";
    return update + " to a version from " + first + " to " + to_string(*versions->last);
  }
  return may_be_read_later(engine.name, loaded.spec) ? update : std::string{};
}

/// Returns why the newest known version of an engine rejects a file that no version reads.
std::string newest_rejection(const VersionedEngine& engine, const LoadedSpec& loaded) {
  std::string out = to_string(engine) + " does not inject CDI devices";
  for (const auto& row : engine_versions) {
    if (row.engine != engine.name) continue;
    if (auto why = rejection_by({row.engine, row.since}, loaded)) out = why->message;
  }
  return out;
}

/// Returns advice for an engine without CDI; `update` is empty when no update helps.
std::string advice_without_cdi(const VersionedEngine& engine, const LoadedSpec& loaded,
                               const std::string& update) {
  if (!update.empty()) {
    return update +
           ", or start cdi-runtime in the place of runc: this version does not inject CDI devices";
  }
  return std::string{"change the file, which no version of "}
      .append(engine.name)
      .append(" reads: ")
      .append(newest_rejection(engine, loaded));
}

/// Converts a file in place for an engine; the format cannot change.
Result<Conversion> convert_in_place(const VersionedEngine& engine, const LoadedSpec& loaded) {
  auto out = convert_for(engine, loaded);
  if (!out || out->owner.empty()) return out;
  const auto format = format_of(loaded.path);
  const auto version = parse_spec_version(out->spec.version);
  if (format != Format::json || *version >= first_with_annotations) return out;
  return Error{
      .code = Errc::unsupported,
      .message = "JSON of CDI version " + to_string(*version) + " cannot record its owner"};
}

/// Returns the command that converts a file, and the effect of the command.
std::string conversion_command(const VersionedEngine& engine, const LoadedSpec& loaded,
                               const Conversion& conversion) {
  const bool lossy = !conversion.losses.empty();
  std::string out{"convert the file"};
  out.append(lossy ? " with losses" : "").append(" by running `cdi convert --in-place --backup ");
  out.append(lossy ? "--lossy " : "").append("--for ").append(engine.name).append("@");
  out.append(to_string(engine.version)).append(" ").append(cdi::shell_word(loaded.path));
  out.append("`");
  if (lossy) out.append(", which loses ").append(named_losses(conversion.losses, loaded));
  return out;
}

}  // namespace

std::string conversion_advice(const VersionedEngine& engine, const LoadedSpec& loaded,
                              std::string_view owner_command) {
  const bool is_rejected = rejection_by(engine, loaded).has_value();
  const auto update = is_rejected ? update_advice(engine, loaded) : std::string{};
  const auto newest = newest_spec_version_for(engine);
  if (!newest) return advice_without_cdi(engine, loaded, update);
  const auto owner = loaded.owner();
  auto let_owner = owner.empty() ? "" : "have its owner " + cdi::quoted(owner);
  if (!owner_command.empty() && written_spec_version_for(engine)) {
    let_owner.append(" write the file again by running `").append(owner_command).append("`");
    return update.empty() ? let_owner : let_owner.append("; or ").append(update);
  }
  const auto conversion = convert_in_place(engine, loaded);
  if (!conversion) {
    const auto change = owner.empty() ? "change the file" : let_owner + " change the file";
    const auto why = advised_message(conversion.error());
    if (update.empty()) return change + ": it cannot be converted: " + why;
    return update + ", or " + change + ", which cannot be converted for this version: " + why;
  }
  bool loses_device = false;
  for (const auto& loss : conversion->losses) {
    // A spec that is followed by other text may be incomplete, which no conversion repairs.
    if (loss.code == Errc::syntax) return "change the file: " + advised_message(loss);
    loses_device = loses_device || lost_device(loss, loaded) != nullptr;
  }
  auto out = conversion_command(engine, loaded, *conversion);
  if (!owner.empty()) {
    let_owner.append(" write the file again");
    const auto own = cdi::parse_spec_version(loaded.spec.version);
    const bool is_newer = own && *newest < *own;
    if (is_newer) let_owner.append(" in CDI ").append(to_string(*newest)).append(" or older");
    out.insert(0, let_owner.append("; or "));
  }
  if (update.empty()) return out;
  return loses_device ? update + "; or " + out : out + "; or " + update;
}

}  // namespace tools
