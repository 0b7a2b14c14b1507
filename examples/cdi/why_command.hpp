// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_WHY_COMMAND_HPP
#define CDI_EXAMPLES_CDI_WHY_COMMAND_HPP

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"

/// The files of a kind that are not used: one of them may be meant to define a device, too.
inline std::vector<cdi::Error> unused_of_kind(const cdi::Registry& registry,
                                              std::string_view kind) {
  std::vector<cdi::Error> errors;
  for (const auto& file : registry.rejected()) {
    if (file->kind == kind) errors.push_back(file->why);
  }
  return errors;
}

/// Where a device comes from.
inline Json origin_record(const std::string& name, const cdi::ResolvedDevice& found,
                          const std::vector<cdi::Error>& unused) {
  Json record{{"name", name},
              {"resolved", true},
              {"file", found.spec->path},
              {"line", found.line()},
              {"priority", found.spec->priority}};
  for (const auto& error : unused) record["notUsed"].push_back(error_record("warning", error));
  return record;
}

inline std::string origin_text(const std::string& name, const cdi::ResolvedDevice& found,
                               const std::vector<cdi::Error>& unused) {
  auto text = fmt::format("resolved: {}: {}:{}\n", name, printable(found.spec->path), found.line());
  for (const auto& error : unused) {
    text += fmt::format("  of its kind, but not used: {}\n", to_string(error));
  }
  return text;
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
  record["advice"] = cdi::advice(one);
  return record;
}

inline std::string reason_text(const cdi::Unresolved& one) {
  const auto& row = cdi::row_of(one.reason);
  const bool unknown = is_unknown(one.reason) || one.causes.empty();
  auto text =
      unknown ? fmt::format("{}: {}\n", row.code, one.why.message)
              : fmt::format("{}: {}: {}\n", row.code, cdi::detail::quoted(one.name), row.meaning);
  for (const auto& cause : one.causes) {
    text += fmt::format("  {}: {}\n", unknown ? "may be in" : "at", to_string(cause));
  }
  for (const auto& name : one.nearest) text += fmt::format("  is there: {}\n", name);
  return text + fmt::format("  do: {}\n", cdi::advice(one));
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
      const auto unused = unused_of_kind(*registry, found.spec->spec.kind);
      text += origin_text(name, found, unused);
      list.push_back(origin_record(name, found, unused));
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
