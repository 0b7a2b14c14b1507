// `rejection_by`: why an engine rejects a spec file; `convert_spec`: its spec in another version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "conversion.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/owner.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/versions/to_version.hpp>

#include "engine_versions.hpp"

namespace tools {

using namespace cdi;
using cdi::detail::advised_message;
using cdi::detail::first_with_annotations;
using cdi::detail::item_path;

namespace {

/// Removes annotations whose keys may be read but not written. `where` is the annotations' path.
void drop_annotations(decltype(Spec::annotations)& annotations, const std::string& where,
                      std::vector<Loss>& losses) {
  for (auto at = annotations.begin(); at != annotations.end();) {
    const auto good = check_annotation_key(at->first);
    if (good) {
      ++at;
      continue;
    }
    losses.push_back({.where = where + (at->first.empty() ? "" : "." + at->first),
                      .what = "the annotation",
                      .breaks = advised_message(good.error())});
    at = annotations.erase(at);
  }
}

/// Removes such annotations from a whole spec, and returns them as losses.
std::vector<Loss> drop_annotations(Spec& spec) {
  std::vector<Loss> losses;
  drop_annotations(spec.annotations, "annotations", losses);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    drop_annotations(spec.devices[i].annotations, item_path("devices", i) + ".annotations", losses);
  }
  return losses;
}

Error at_its_place(Error error, const LoadedSpec& loaded) {
  error.position = loaded.locate(error.where);
  return error;
}

/// Maps a path in a converted spec to the file, which may have more devices.
std::string path_in_file(const std::string& where, const Spec& converted, const Spec& file) {
  std::size_t in_file = 0;
  for (std::size_t i = 0; i < converted.devices.size(); ++i, ++in_file) {
    while (file.devices[in_file].name != converted.devices[i].name) ++in_file;
    const auto device = item_path("devices", i);
    if (!where.starts_with(device)) continue;
    return item_path("devices", in_file).append(where, device.size());
  }
  return where;
}

/// Adds losses to a conversion. Only the first losses are located, because locating takes longer
/// the more devices precede a loss.
void add_losses(const std::vector<Loss>& losses, const LoadedSpec& loaded, Conversion& out) {
  for (const auto& loss : losses) {
    Error error = to_error(loss);
    error.position.file = loaded.path;
    if (out.losses.size() < max_warnings) error = at_its_place(std::move(error), loaded);
    out.losses.push_back(std::move(error));
  }
}

// The Go library rejects some values in files of all versions, or crashes: permissions `none`, and
// a vendor or class of one character, up to 1.1.0; closID `/` up to 1.0.1; and device names of one
// character up to 0.4.0. The Rust crate rejects permissions `none` before 1.1.1.

/// Returns whether an engine rejects permissions `none`. An unknown engine may use the Go library.
bool rejects_none(const EngineVersionRange* engine) {
  return engine == nullptr || engine->library < EngineVersion{1, 1, 1};
}

/// Returns whether an engine rejects a vendor or class of one character.
bool rejects_short_kinds(const EngineVersionRange* engine) {
  return engine == nullptr || engine->parser == SpecParser::sigs_yaml;
}

/// Returns the first of these values that an engine rejects, described in `message`. `newest` is
/// the library's newest known version. Null stands for an engine with a Go library up to 1.1.0.
std::optional<Error> rejected_edit(const ContainerEdits& edits, SpecVersion newest,
                                   const EngineVersionRange* engine) {
  for (std::size_t i = 0; i < edits.device_nodes.size() && rejects_none(engine); ++i) {
    if (edits.device_nodes[i].permissions != "none") continue;
    return Error{.message = "the permissions none",
                 .where = item_path("deviceNodes", i) + ".permissions"};
  }
  const bool is_root = edits.intel_rdt && edits.intel_rdt->clos_id == "/";
  if (!is_root || newest >= SpecVersion{1, 1, 0}) return std::nullopt;
  return Error{.message = "the closID /", .where = "intelRdt.closID"};
}

}  // namespace

std::optional<Error> rejected_value(const Spec& spec, SpecVersion newest,
                                    const EngineVersionRange* engine) {
  const auto kind = parse_kind(spec.kind);
  const bool is_short = kind && (kind->vendor.size() == 1 || kind->device_class.size() == 1);
  if (is_short && rejects_short_kinds(engine)) {
    return Error{.message = "a vendor or class of one character", .where = "kind"};
  }
  if (auto value = rejected_edit(spec.container_edits, newest, engine)) {
    return std::move(*value).under("containerEdits");
  }
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const auto device = item_path("devices", i);
    if (spec.devices[i].name.size() == 1 && newest < SpecVersion{0, 5, 0}) {
      return Error{.message = "a device name of one character", .where = device + ".name"};
    }
    if (auto value = rejected_edit(spec.devices[i].container_edits, newest, engine)) {
      return std::move(*value).under(device + ".containerEdits");
    }
  }
  return std::nullopt;
}

namespace {

/// Completes such an error with the name of the engine and the place in the file.
Error reject_value(Error value, const VersionedEngine& engine, const LoadedSpec& loaded) {
  value.code = Errc::unsupported;
  value.message = to_string(engine) + " refuses " + value.message;
  return at_its_place(std::move(value), loaded);
}

/// Returns why an engine rejects a member that is newer than the engine, whatever its value.
Error reject_member(const NewerMember& member, const VersionedEngine& engine) {
  return {.code = Errc::unsupported,
          .message = to_string(engine) + " does not know the member, which was added in CDI " +
                     to_string(member.since),
          .where = member.key,
          .position = member.position};
}

/// Returns whether an engine rejects a `v` before the version, as the Go library does up to 0.5.3.
bool rejects_v(const VersionedEngine& engine) {
  const auto* const row = find_engine_versions(engine);
  return row != nullptr && row->parser != SpecParser::serde_yaml &&
         row->library < EngineVersion{0, 5, 4};
}

/// Returns whether an engine's parser rejects the text in a warning, because the parser allows no
/// member names in another case, or no quoted booleans, or is of the Go library, which rejects part
/// of YAML 1.2.
bool is_rejected_text(SpecParser parser, const Error& warning) {
  if (warning.rule == row_of(Rule::member_case).code) return parser != SpecParser::sigs_yaml;
  if (warning.rule != row_of(Rule::portable_text).code) return false;
  if (warning.code == Errc::syntax) return parser != SpecParser::serde_yaml;
  return warning.code == Errc::schema && parser != SpecParser::yaml_v3;
}

/// Returns whether an engine's parser reads the text in a warning as this library does.
bool is_read_alike(SpecParser parser, const Error& warning) {
  if (warning.rule == row_of(Rule::member_case).code) return parser == SpecParser::sigs_yaml;
  const bool only_old = warning.code == Errc::schema || warning.code == Errc::invalid;
  return warning.rule == row_of(Rule::portable_text).code && only_old &&
         parser == SpecParser::yaml_v3;
}

/// Returns whether an engine's parser ignores unknown members, so that their edits are lost, as the
/// Rust crate did before 1.1.1.
bool ignores(const EngineVersionRange& row, const Error& warning) {
  return row.parser == SpecParser::serde_yaml && row.library < EngineVersion{1, 1, 1} &&
         warning.rule == row_of(Rule::member_case).code;
}

/// Returns why an engine rejects the text of a valid spec; nullopt if the engine reads the text.
std::optional<Error> rejected_text(const VersionedEngine& engine, const LoadedSpec& loaded) {
  const auto* const row = find_engine_versions(engine);
  for (const auto& warning : loaded.warnings) {
    if (row == nullptr || !is_rejected_text(row->parser, warning)) continue;
    Error why = warning;
    why.code = Errc::unsupported;
    why.message = to_string(engine);
    // 0.0.0 stands for a commit between two releases.
    if (row->library != EngineVersion{}) {
      why.message.append(", with CDI library ").append(to_string(row->library)).append(",");
    }
    why.message.append(ignores(*row, warning) ? " ignores it: " : " refuses it: ");
    why.message.append(warning.message);
    why.rule = {};
    return why;
  }
  return std::nullopt;
}

}  // namespace

Result<Conversion> convert_spec(const LoadedSpec& loaded, SpecVersion version) {
  Conversion out{.spec = loaded.spec, .owner = std::string{loaded.owner()}};
  const std::string key{owner_annotation};
  if (!out.owner.empty()) out.spec.annotations.erase(key);  // the record is not lost
  add_losses(drop_annotations(out.spec), loaded, out);
  auto converted = cdi::to_version(out.spec, version, Losses::allow);
  if (!converted) return at_its_place(std::move(converted).error(), loaded);
  add_losses(converted->losses, loaded, out);
  out.spec = std::move(converted->spec);
  if (!out.owner.empty() && first_with_annotations <= version) {
    out.spec.annotations.insert_or_assign(key, out.owner);
  }
  for (const auto& warning : loaded.warnings) {
    if (warning.rule == row_of(Rule::single_document).code) out.losses.push_back(warning);
  }
  auto valid = cdi::validate(out.spec, nullptr, ValidateFor::writing);
  if (valid) return out;
  Error error = std::move(valid).error();
  error.where = path_in_file(error.where, out.spec, loaded.spec);
  return at_its_place(std::move(error), loaded);
}

Result<SpecVersion> spec_version_for(const VersionedEngine& engine, const Spec& spec) {
  const auto newest = written_spec_version_for(engine);
  if (!newest) return newest;
  const auto own = cdi::parse_spec_version(spec.version);
  const auto need = cdi::minimum_need(spec);
  const bool is_read = own && *own <= *newest && *newest < need.until;
  if (!is_read || *newest < need.version) return newest;
  // The members of a valid spec may be newer than its version.
  return cdi::detail::max(*own, need.version);
}

Result<Conversion> convert_for(const VersionedEngine& engine, const LoadedSpec& loaded) {
  const auto version = spec_version_for(engine, loaded.spec);
  if (!version) return version.error();
  auto out = convert_spec(loaded, *version);
  if (!out) return out;
  auto value =
      rejected_value(out->spec, *newest_spec_version_for(engine), find_engine_versions(engine));
  if (!value) return out;
  value->where = path_in_file(value->where, out->spec, loaded.spec);
  return reject_value(*std::move(value), engine, loaded);
}

std::optional<Error> rejection_by(const VersionedEngine& engine, const LoadedSpec& loaded) {
  const auto& spec = loaded.spec;
  const auto newest = newest_spec_version_for(engine);
  Error why{.code = Errc::unsupported, .where = "cdiVersion"};
  const auto own = cdi::parse_spec_version(spec.version);
  if (!newest) {
    why.message = newest.error().message;
    why.advice = newest.error().advice;
  } else if (!own || *own > *newest) {
    why.message = "version " + cdi::quoted(spec.version) + " is newer than " + to_string(*newest) +
                  ", the newest that " + to_string(engine) + " reads";
    const auto assumption = assumption_about(engine);
    if (!assumption.empty()) why.message.append("; ").append(assumption);
  } else if (spec.version.starts_with('v') && rejects_v(engine)) {
    why.message = to_string(engine) + " refuses version " + cdi::quoted(spec.version);
    why.advice = "write \"" + to_string(*own) + "\"";
  } else if (loaded.newer_member && *newest < loaded.newer_member->since) {
    return reject_member(*loaded.newer_member, engine);
  } else {
    auto need = cdi::minimum_need(spec);
    if (*newest < need.until) {
      const auto value = rejected_value(spec, *newest, find_engine_versions(engine));
      return value ? reject_value(*value, engine, loaded) : rejected_text(engine, loaded);
    }
    why.where = std::move(need.until_where);
    why.message = to_string(engine) + " does not know the member, which " +
                  std::string{need.until_instead} + " replaced in " + to_string(need.until);
  }
  return at_its_place(std::move(why), loaded);
}

std::vector<Error> text_warnings(const LoadedSpec& loaded) {
  std::vector<Error> out;
  for (const auto& warning : loaded.warnings) {
    for (const auto rule :
         {Rule::json_syntax, Rule::single_document, Rule::member_case, Rule::portable_text}) {
      if (warning.rule == row_of(rule).code) out.push_back(warning);
    }
  }
  return out;
}

std::vector<Error> text_warnings(const VersionedEngine& engine, const LoadedSpec& loaded) {
  auto out = text_warnings(loaded);
  const auto* const row = find_engine_versions(engine);
  if (row != nullptr) {
    std::erase_if(out, [&](const auto& it) { return is_read_alike(row->parser, it); });
  }
  return out;
}

}  // namespace tools
