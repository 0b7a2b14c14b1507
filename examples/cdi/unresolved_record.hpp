// Names that do not resolve, as records for `-o json` and `-o yaml`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_UNRESOLVED_RECORD_HPP
#define CDI_EXAMPLES_CDI_UNRESOLVED_RECORD_HPP

#include <utility>

#include <cdi/unresolved.hpp>

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

#endif  // CDI_EXAMPLES_CDI_UNRESOLVED_RECORD_HPP
