// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_WHY_COMMAND_HPP
#define CDI_EXAMPLES_CDI_WHY_COMMAND_HPP

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"

/// Where a device comes from.
inline Json origin_record(const std::string& name, const cdi::ResolvedDevice& found) {
  Json record{{"name", name}, {"resolved", true}, {"file", found.spec->path}};
  record["line"] = found.line();
  record["priority"] = found.spec->priority;
  if (found.spec->fault) record["fault"] = error_record("error", *found.spec->fault);
  return record;
}

/// Why a name is not resolved, and what to do.
inline Json reason_record(const cdi::Unresolved& one) {
  const auto& row = cdi::row_of(one.reason);
  Json causes = Json::array();
  for (const auto& cause : one.causes) causes.push_back(error_record("error", cause));
  Json record{{"name", one.name},       {"resolved", false},
              {"reason", row.code},     {"message", one.why.message},
              {"nearest", one.nearest}, {"causes", std::move(causes)}};
  if (!one.needs_version.empty()) record["needsVersion"] = one.needs_version;
  record["advice"] = row.advice;
  return record;
}

inline std::string reason_text(const cdi::Unresolved& one) {
  const auto& row = cdi::row_of(one.reason);
  const bool unknown = one.reason == cdi::Reason::unknown_kind ||
                       one.reason == cdi::Reason::unknown_device || one.causes.empty();
  auto text =
      unknown ? fmt::format("{}: {}\n", row.code, one.why.message)
              : fmt::format("{}: {}: {}\n", row.code, cdi::detail::quoted(one.name), row.meaning);
  for (const auto& cause : one.causes) {
    text += fmt::format("  {}: {}\n", unknown ? "may be in" : "at", to_string(cause));
  }
  for (const auto& name : one.nearest) text += fmt::format("  is there: {}\n", name);
  if (cdi::parse_release(one.needs_version)) {
    text += fmt::format("  needs: cdiVersion {}\n", one.needs_version);
  } else if (!one.needs_version.empty()) {
    text += fmt::format("  needs: CDI {}; this program knows up to {}\n", one.needs_version,
                        to_string(cdi::current_release));
  }
  return text + fmt::format("  do: {}\n", row.advice);
}

/// Tells of each name where it comes from, or why it is not resolved and what to do.
inline ExitCode explain_names(const Request& request, const Output& output) {
  const auto registry = cdi::scan_spec_dirs(request.spec_dirs, request.reading);
  const auto missing =
      cdi::diagnose(*registry, request.names, cdi::usual_spec_dirs(), request.reading);
  std::string text;
  Json list = Json::array();
  for (const auto& name : request.names) {
    const auto found = registry->find(name);
    if (found.device != nullptr) {
      text += fmt::format("resolved: {}: {}:{}\n", name, found.spec->path, found.line());
      list.push_back(origin_record(name, found));
      continue;
    }
    const auto one = std::find_if(missing.begin(), missing.end(),
                                  [&](const auto& other) { return other.name == name; });
    text += reason_text(*one);
    list.push_back(reason_record(*one));
  }
  if (!output.result(text, list)) return exit_refused;
  return missing.empty() ? exit_done : exit_code_of(missing.front().reason);
}

#endif  // CDI_EXAMPLES_CDI_WHY_COMMAND_HPP
