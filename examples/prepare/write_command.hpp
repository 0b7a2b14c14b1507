// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_WRITE_COMMAND_HPP
#define CDI_PREPARE_WRITE_COMMAND_HPP

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "directories.hpp"
#include "exit_codes.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report.hpp"
#include "specs.hpp"
#include "survey.hpp"

namespace prepare {

inline constexpr const char* spec_owner = "cdi-prepare";

inline std::string spec_path(const Options& options, const std::string& name) {
  return options.output_dir + (options.output_dir.ends_with('/') ? "" : "/") + name;
}

/// Whether a spec can say whose it is: annotations are there since 0.6.0.
inline bool can_record_owner(const Options& options) {
  return !options.max_version || *options.max_version >= cdi::Release{0, 6, 0};
}

/// Writes a spec whosever the file is that it replaces. Without `--force` none is replaced: nobody
/// can tell whose it is.
inline cdi::Result<cdi::Publication> write_over(const Options& options, const std::string& path,
                                                const cdi::Spec& spec) {
  using Action = cdi::Publication::Action;
  const auto there = cdi::read_spec_file(path);
  if (there && there->spec == spec) return cdi::Publication{path, Action::unchanged};
  const bool missing = !there && there.error().system == ENOENT;
  if (!missing && !options.force) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "it may be another program's: give --force to replace it",
                      .position = {.file = path}};
  }
  if (auto made = make_directories(options.output_dir); !made) return std::move(made).error();
  if (auto wrote = cdi::write_spec_file(path, spec); !wrote) return std::move(wrote).error();
  return cdi::Publication{path, missing ? Action::created : Action::replaced};
}

/// The spec with its owner in it, when its release has a place for that.
inline cdi::Spec owned(cdi::Spec spec, const Options& options) {
  if (can_record_owner(options)) {
    spec.annotations.insert_or_assign(std::string{cdi::owner_annotation}, spec_owner);
  }
  return spec;
}

inline cdi::Result<cdi::Publication> publish(const Options& options, const PreparedSpec& prepared) {
  if (can_record_owner(options)) {
    const cdi::Publisher publisher{spec_owner, options.output_dir};
    auto done = publisher.write(prepared.file_name, prepared.spec);
    if (done || !options.force || done.error().code != cdi::Errc::conflict) return done;
  }
  return write_over(options, spec_path(options, prepared.file_name), owned(prepared.spec, options));
}

/// What a run of `write` did.
struct Written {
  std::vector<std::pair<cdi::Publication, PreparedSpec>> specs{};
  std::vector<std::string> removed{};
  std::vector<LeftOut> left_out{};
  std::vector<std::string> not_ready{};
};

inline Json to_json(const Written& written) {
  Json specs = Json::array();
  for (const auto& [done, prepared] : written.specs) {
    specs.push_back(Json{{"path", done.path},
                         {"action", to_text(done.action)},
                         {"kind", prepared.spec.kind},
                         {"devices", qualified_names(prepared.spec)}});
  }
  Json left_out = Json::array();
  for (const auto& [kind, name, reason] : written.left_out) {
    left_out.push_back(Json{{"kind", kind}, {"name", name}, {"reason", reason}});
  }
  return {{"specs", specs},
          {"removed", written.removed},
          {"left_out", left_out},
          {"not_ready", written.not_ready}};
}

inline std::string to_text(const Written& written) {
  std::string out;
  for (const auto& [done, prepared] : written.specs) {
    out += done.path + "\n";
    for (const auto& name : qualified_names(prepared.spec)) out += name + "\n";
  }
  return out;
}

/// Publishes specs, each whatever becomes of the others; whether all went well.
inline bool publish_all(const std::vector<PreparedSpec>& prepared, const Options& options,
                        Written& written) {
  bool good = true;
  for (const auto& one : prepared) {
    if (auto done = publish(options, one)) {
      written.specs.emplace_back(std::move(*done), one);
    } else {
      complain("error: " + cdi::to_string(done.error()));
      good = false;
    }
  }
  return good;
}

/// Removes the specs of kinds of which the host has nothing any more. Without a look at the PCI bus
/// nobody can tell.
inline bool remove_outdated(const Survey& survey, const Options& options, Written& written) {
  if (!survey.tree.exists("/sys/bus/pci/devices")) return true;
  std::map<std::string, cdi::Spec> just_written;
  std::set<std::string> keep;
  for (const auto& found : survey.inventories) keep.insert(file_name(found.kind));
  for (const auto& [done, prepared] : written.specs) {
    if (can_record_owner(options)) just_written.emplace(prepared.file_name, prepared.spec);
  }
  const cdi::Publisher publisher{spec_owner, options.output_dir};
  const auto done = publisher.reconcile(just_written, cdi::DryRun::no, keep);
  if (!done) complain("error: " + cdi::to_string(done.error()));
  if (!done) return false;
  for (const auto& error : done->errors) complain("error: " + cdi::to_string(error));
  for (const auto& file : done->files) {
    if (file.action != cdi::Publication::Action::removed) continue;
    complain(file.path + " removed: the host has no such GPU any more");
    written.removed.push_back(file.path);
  }
  return done->errors.empty();
}

/// Makes the specs in the directory those that were prepared. A kind that is not ready keeps its
/// old spec; when nothing at all is to be done, all do.
inline ExitCode update_specs(const Survey& survey, const PreparedSpecs& prepared,
                             const Options& options, Written& written) {
  written.left_out = prepared.left_out;
  written.not_ready = prepared.not_ready;
  if (prepared.held_back) return prepared.code;
  const bool published = publish_all(prepared.specs, options, written);
  const bool removed = remove_outdated(survey, options, written);
  return published && removed ? prepared.code : ExitCode::failed;
}

/// The specs as they would be written, one after the other.
inline Output specs_as_text(const std::vector<PreparedSpec>& specs, const Options& options) {
  std::string out;
  for (const auto& one : specs) {
    auto text = cdi::write_spec(one.spec, options.json() ? cdi::Format::json : cdi::Format::yaml);
    if (!text) return text;
    out += *text;
  }
  return out;
}

inline ExitCode write_specs(const Survey& survey, const Options& options) {
  const auto prepared = prepare_specs(survey, options);
  print_error(prepared.complaints);
  if (options.dry_run) return finish(specs_as_text(prepared.specs, options), prepared.code);
  Written written;
  const auto code = update_specs(survey, prepared, options, written);
  return finish(options.json() ? json_text(to_json(written)) : to_text(written), code);
}

}  // namespace prepare

#endif  // CDI_PREPARE_WRITE_COMMAND_HPP
