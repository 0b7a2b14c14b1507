// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_WHY_COMMAND_HPP
#define CDI_EXAMPLES_CDI_WHY_COMMAND_HPP

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "engine_view.hpp"
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
    text += fmt::format("  same kind, but not used: {}\n", to_string(error));
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
  auto text = unknown ? fmt::format("{}: {}\n", row.code, one.why.message)
                      : fmt::format("{}: {}: {}\n", row.code, cdi::quoted(one.name), row.meaning);
  for (const auto& cause : one.causes) {
    text += fmt::format("  {}: {}\n", unknown ? "may be in" : "at", to_string(cause));
  }
  for (const auto& name : one.nearest) text += fmt::format("  similar: {}\n", name);
  return text + fmt::format("  do: {}\n", cdi::advice(one));
}

/// What `why` looks at: the specs, as all read them or as one engine does.
struct Sight {
  std::shared_ptr<const cdi::Registry> registry{};
  std::optional<EngineView> engine{};
};

inline Sight look(const Request& request) {
  Sight sight{.registry = cdi::scan_spec_dirs(request.spec_dirs, request.reading)};
  if (request.asked_engine.empty()) return sight;
  sight.engine.emplace(*cdi::parse_engine(request.asked_engine), *sight.registry);
  sight.registry = sight.engine->registry();
  return sight;
}

/// What is told of a name, in both forms.
struct Explanation {
  std::string text{};
  Json record{};
};

inline Explanation explain(const std::string& name, const cdi::ResolvedDevice& found,
                           const Sight& sight) {
  const auto unused = unused_of_kind(*sight.registry, found.spec->spec.kind);
  Explanation out{origin_text(name, found, unused), origin_record(name, found, unused)};
  if (sight.engine) out.text.insert(out.text.find(':'), " by " + sight.engine->name());
  return out;
}

inline Explanation explain(cdi::Unresolved one, const Sight& sight) {
  const bool too_new = sight.engine && sight.engine->is_to_blame(one);
  if (!too_new) return {reason_text(one), reason_record(one)};
  one.why.message =
      fmt::format("{}: {} refuses a file of its kind", cdi::quoted(one.name), sight.engine->name());
  Explanation out{fmt::format("{}: {}\n", cdi::row_of(one.reason).code, one.why.message),
                  reason_record(one)};
  for (const auto& cause : one.causes) out.text += fmt::format("  at: {}\n", to_string(cause));
  out.text += fmt::format("  do: {}\n", sight.engine->advice());
  out.record["advice"] = sight.engine->advice();
  return out;
}

/// Tells of each name where it comes from, or why it is not resolved and what to do.
inline ExitCode explain_names(const Request& request, const Output& output) {
  const auto sight = look(request);
  const auto missing =
      cdi::diagnose(*sight.registry, request.names, cdi::usual_spec_dirs(), request.reading);
  std::string text;
  Json list = Json::array();
  for (const auto& name : request.names) {
    const auto found = sight.registry->find(name);
    const auto is_it = [&](const auto& one) {
      return one.name == name;
    };
    auto one = found.device != nullptr
                   ? explain(name, found, sight)
                   : explain(*std::find_if(missing.begin(), missing.end(), is_it), sight);
    if (sight.engine) {
      one.record["engine"] = sight.engine->name();
      one.record["reads"] = sight.engine->newest();
    }
    text += one.text;
    list.push_back(std::move(one.record));
  }
  if (!output.result(text, list)) return exit_refused;
  return missing.empty() ? exit_done : exit_code_of(missing.front().reason);
}

#endif  // CDI_EXAMPLES_CDI_WHY_COMMAND_HPP
