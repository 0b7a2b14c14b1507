// Reports names that do not resolve, and overlapping edits, for several commands.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/plan.hpp>
#include <cdi/registry.hpp>

#include "../../kit/base/glob.hpp"
#include "../../kit/cdi_specs/overlaps.hpp"
#include "../results/why.hpp"
#include "output.hpp"

/// Advice for common attempts to name several devices: a kind, or names with commas. Empty for
/// other names, and for patterns, whose brackets may have a comma.
inline std::string advice_on_several(const cdi::Unresolved& one) {
  if (one.reason != cdi::Reason::invalid_name || one.name.find('[') != std::string::npos) return {};
  if (one.name.find(',') != std::string::npos) return "separate names with spaces, not with commas";
  if (!cdi::parse_kind(one.name)) return {};
  return fmt::format("write '{}=*' for all of its devices", one.name);
}

/// What to do about a name that does not resolve. The error of a pattern has its own advice.
inline std::string advice_on(const cdi::Unresolved& one) {
  if (one.reason != cdi::Reason::invalid_name) return cdi::advice(one);
  if (auto advice = advice_on_several(one); !advice.empty()) return advice;
  const auto pattern = tools::Glob::parse(one.name);
  return pattern ? cdi::advice(one) : pattern.error().advice;
}

/// Why a name does not resolve.
inline NameFault fault_of(const cdi::Unresolved& one) {
  return {cdi::row_of(one.reason).code, one.nearest, records_of("error", one.causes),
          one.more_causes, one.needs_version};
}

/// Prints an error for a name that does not resolve. Its record contains the place of the first
/// cause, and the members that `cdi why` prints.
inline void report_unresolved(const cdi::Unresolved& one, const Output& output) {
  const auto& place = one.causes.empty() ? one.why : one.causes.front();
  UnresolvedError record{error_record("error", place), fault_of(one), one.name};
  record.message = one.why.message;
  record.advice = advice_on(one);
  output.error(one.why, record);
}

/// Prints overlapping edits on standard error.
inline void warn_of_overlaps(const std::vector<tools::Overlap>& overlaps, const Output& output) {
  for (const auto& overlap : overlaps) output.warning({.message = to_string(overlap)});
}

/// The lines of edits in the spec files of devices, which are read only when a line is needed.
class EditLines {
 public:
  explicit EditLines(std::span<const cdi::ResolvedDevice> devices) {
    for (const auto& [spec, device] : devices) specs_.emplace(spec->path, spec);
  }

  /// An origin with the line of its edit.
  cdi::Origin completed(cdi::Origin origin) const {
    const auto found = specs_.find(origin.file);
    if (found != specs_.end()) origin.line = found->second->locate(origin.where).line;
    return origin;
  }

 private:
  std::map<std::string_view, const cdi::LoadedSpec*> specs_{};  // by path
};

/// Fills in the lines of overlapping edits.
inline void find_lines(std::vector<tools::Overlap>& overlaps, const EditLines& lines) {
  for (auto& overlap : overlaps) {
    overlap.first = lines.completed(std::move(overlap.first));
    overlap.second = lines.completed(std::move(overlap.second));
  }
}
