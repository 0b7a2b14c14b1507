// What several commands report: names that do not resolve, and overlaps of edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TOOLS_CDI_BASE_REPORTS_HPP
#define CDI_TOOLS_CDI_BASE_REPORTS_HPP

#include <span>
#include <utility>

#include <cdi/plan.hpp>
#include <cdi/registry.hpp>

#include "output.hpp"

/// Why a name is not resolved, and what to do.
inline Json reason_record(const cdi::Unresolved& one) {
  const auto& row = cdi::row_of(one.reason);
  Json causes = Json::array();
  for (const auto& cause : one.causes) causes.push_back(error_record("error", cause));
  Json record{{"name", one.name},       {"resolved", false},
              {"reason", row.code},     {"message", one.why.message},
              {"nearest", one.nearest}, {"causes", std::move(causes)}};
  if (!one.needs_version.empty()) record["needsVersion"] = one.needs_version;
  record["advice"] = cdi::advice(one);
  return record;
}

/// Prints an error about a name that does not resolve. Its record has the place of the first cause,
/// and what `cdi why` tells.
inline void report_unresolved(const cdi::Unresolved& one, const Output& output) {
  Json record = one.causes.empty() ? Json::object() : error_record("error", one.causes.front());
  record.update(reason_record(one));
  output.error(one.why, record);
}

/// Gives an origin the line of its edit, which is in one of the devices' files.
inline void find_line(cdi::Origin& origin, std::span<const cdi::ResolvedDevice> devices) {
  for (const auto& [spec, device] : devices) {
    if (spec->path != origin.file) continue;
    origin.line = spec->locate(origin.where).line;
    return;
  }
}

/// Prints the overlaps of the edits of devices on standard error.
inline void warn_of_overlaps(const cdi::Plan& plan, std::span<const cdi::ResolvedDevice> devices,
                             const Output& output) {
  for (auto& overlap : cdi::find_overlaps(plan)) {
    find_line(overlap.first, devices);
    find_line(overlap.second, devices);
    output.warning({.message = to_string(overlap)});
  }
}

#endif  // CDI_TOOLS_CDI_BASE_REPORTS_HPP
