// The log of cdi-dra: a line for each event, as text or JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/text/json.hpp>

#include "../kit/base/log_output.hpp"
#include "../kit/base/one_line.hpp"
#include "../kit/base/text.hpp"
#include "claims/claim_source.hpp"

namespace dra {

/// The events of the log; the last three are of the device plugin, whose resource is the name.
inline constexpr std::array<std::string_view, 15> log_events{
    "serving", "registered", "refused",   "prepared",  "unprepared",
    "failed",  "repaired",   "healthy",   "unhealthy", "published",
    "warning", "ended",      "allocated", "adopted",   "freed"};

/// A line of the log. Members that do not apply are empty, and absent from the JSON.
struct LogLine {
  std::int64_t version = 1;  // of the form of the lines
  std::string event{};       // of `log_events`
  std::string claim{};       // its UID
  std::string ns{}, name{};  // of the claim
  std::vector<std::string> devices{};
  std::vector<std::string> ids{};  // of CDI
  std::string path{};
  std::int64_t microseconds = 0;
  std::int64_t generation = 0;  // of the published pool
  std::int64_t slices = 0;      // in the pool
  std::string error{};

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = LogLine;
    list("version", &Self::version, cdi::required);
    list("event", &Self::event, cdi::required);
    list("claim", &Self::claim);
    list("namespace", &Self::ns);
    list("name", &Self::name);
    list("devices", &Self::devices);
    list("ids", &Self::ids);
    list("path", &Self::path);
    list("microseconds", &Self::microseconds);
    list("generation", &Self::generation);
    list("slices", &Self::slices);
    list("error", &Self::error);
  }

  LogLine& about(const ClaimName& one) {
    claim = tools::one_line(one.uid);
    ns = tools::one_line(one.name_space);
    name = tools::one_line(one.name);
    return *this;
  }
};

/// A line as text: `EVENT WHAT: WHY`.
inline std::string text_of(const LogLine& line) {
  std::string out = line.event;
  if (!line.claim.empty() && line.ns.empty()) {  // of the device plugin, or not readable
    out.append(" claim ").append(line.claim);
  } else if (!line.claim.empty()) {
    out.append(" claim ").append(line.ns).append("/").append(line.name);
    out.append(" (").append(line.claim).append(")");
  }
  if (!line.devices.empty()) out.append(" ").append(tools::listed(line.devices));
  if (!line.ids.empty()) out.append(" as ").append(tools::listed(line.ids));
  if (!line.path.empty()) out.append(" ").append(line.path);
  if (line.microseconds > 0) out += fmt::format(" in {} us", line.microseconds);
  if (line.slices > 0) {
    out += fmt::format(" {} {} of generation {}", line.slices,
                       line.slices == 1 ? "slice" : "slices", line.generation);
  }
  if (!line.error.empty()) out.append(": ").append(line.error);
  return out;
}

/// The log. Drops a line that its reader does not take.
using Log = tools::LineLog<LogLine>;

}  // namespace dra
