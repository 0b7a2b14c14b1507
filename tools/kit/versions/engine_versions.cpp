// The CDI library of each version of containerd, CRI-O, podman and others, and what it reads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "engine_versions.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/registry/nearest_names.hpp>

namespace tools {

using namespace cdi;
using cdi::detail::NearestNames;
using cdi::detail::take_number;

std::string to_string(EngineVersion version) {
  std::string out = std::to_string(version.major);
  out.append(".").append(std::to_string(version.minor));
  out.append(".").append(std::to_string(version.patch));
  return out;
}

namespace {

Error unknown_engine(std::string_view name) {
  std::string advice = "use one of";
  std::string_view last;
  for (const auto& row : engine_versions) {
    if (row.engine != last) advice.append(last.empty() ? " " : ", ").append(row.engine);
    last = row.engine;
  }
  NearestNames nearest{name};
  for (const auto& row : engine_versions) nearest.add(row.engine);
  if (!name.empty() && nearest.names().size() > 0) {
    advice = "did you mean " + std::string{nearest.names()[0]} + "?";
  }
  return {.code = Errc::not_found,
          .message = "engine " + cdi::quoted(name) + " is not known",
          .advice = std::move(advice)};
}

/// Returns the first row of an engine; null if the table has no such engine.
const EngineVersionRange* first_row_of(std::string_view engine) {
  for (const auto& row : engine_versions) {
    if (row.engine == engine) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<EngineVersion> parse_engine_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  EngineVersion version;
  bool more = true;
  for (auto* part : {&version.major, &version.minor, &version.patch}) {
    if (!more) break;
    if (!take_number(text, *part)) return std::nullopt;
    more = text.starts_with('.');
    if (more) text.remove_prefix(1);
  }
  const bool ended =
      text.empty() || std::string_view{"+-~"}.find(text[0]) != std::string_view::npos;
  return !more && ended ? std::optional{version} : std::nullopt;
}

std::string to_string(const VersionedEngine& engine) {
  return std::string{engine.name}.append(" ").append(to_string(engine.version));
}

Result<VersionedEngine> parse_engine(std::string_view engine_at_version) {
  const auto at = engine_at_version.find('@');
  const auto name = engine_at_version.substr(0, at);
  const auto* const row = first_row_of(name);
  if (row == nullptr) return unknown_engine(name);
  const auto text =
      at == std::string_view::npos ? std::string_view{} : engine_at_version.substr(at + 1);
  const auto version = parse_engine_version(text);
  if (version) return VersionedEngine{row->engine, *version};
  return Error{.code = Errc::invalid,
               .message = cdi::quoted(engine_at_version) + " is not an engine with a version",
               .advice = "write, for example, podman@4.9.3"};
}

Result<SpecVersion> newest_spec_version_for(const VersionedEngine& engine) {
  if (const auto* const row = find_engine_versions(engine)) return row->newest;
  const auto* const first = first_row_of(engine.name);
  if (first == nullptr) return unknown_engine(engine.name);
  return Error{.code = Errc::not_found,
               .message = to_string(engine) + " is older than " + to_string(first->since) +
                          ", the first version known to read CDI specs"};
}

Result<SpecVersion> newest_spec_version_for(std::string_view engine_at_version) {
  const auto engine = parse_engine(engine_at_version);
  if (!engine) return engine.error();
  return newest_spec_version_for(*engine);
}

Result<SpecVersion> written_spec_version_for(const VersionedEngine& engine) {
  auto newest = newest_spec_version_for(engine);
  constexpr SpecVersion oldest;
  if (!newest || oldest <= *newest) return newest;
  return Error{.code = Errc::unsupported,
               .message = to_string(engine) + " reads only CDI " + to_string(*newest) +
                          " and older versions, but specs need at least " + to_string(oldest)};
}

Result<SpecVersion> written_spec_version_for(std::string_view engine_at_version) {
  const auto engine = parse_engine(engine_at_version);
  if (!engine) return engine.error();
  return written_spec_version_for(*engine);
}

std::string assumption_about(const VersionedEngine& engine) {
  const auto* const row = find_engine_versions(engine);
  if (row == nullptr || engine.version <= row->last) return {};
  const bool is_end = row == &engine_versions.back() || row[1].engine != row->engine;
  return to_string(engine) + " is newer than " + to_string(row->last) + ", the newest known " +
         (is_end ? "version" : "before " + to_string(row[1].since)) +
         ", and is assumed to read the same versions";
}

}  // namespace tools
