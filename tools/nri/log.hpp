// The log of cdi-nri: a line for each event, as text or JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/text/json.hpp>

#include "../kit/base/log_output.hpp"
#include "../kit/base/one_line.hpp"
#include "../kit/base/text.hpp"
#include "injection.hpp"
#include "log_line.hpp"

namespace nri {

/// Adds the names of a container to a line.
inline LogLine& about(LogLine& line, const PodSandbox& pod, const Container& container) {
  line.ns = tools::one_line(pod.namespace_());
  line.pod = tools::one_line(pod.name());
  line.container = tools::one_line(container.name());
  line.id = tools::one_line(container.id());
  return line;
}

/// A line as text: `WHO: EVENT what: why`.
inline std::string text_of(const LogLine& line) {
  const std::string_view event = line.event == "connected" ? "connected to"
                                 : line.event == "missing" ? "runs without"
                                 : line.event == "unknown" ? "runs, with or without"
                                 : line.event == "passed"  ? "passed on"
                                                           : std::string_view{line.event};
  std::string out;
  if (!line.container.empty() || !line.pod.empty()) {
    out = line.ns + "/" + line.pod + ", container " + line.container + ": ";
  }
  out += event;
  if (!line.runtime.empty()) out.append(" ").append(line.runtime);
  if (!line.devices.empty()) out.append(" ").append(tools::listed(line.devices));
  if (!line.way.empty()) out.append(" as ").append(line.way);
  for (const auto& spec : line.specs) out.append(", ").append(spec.file);
  if (!line.error.empty()) out.append(": ").append(line.error);
  return out;
}

/// The log. Drops a line that its reader does not take, because the runtime waits for the plugin.
using Log = tools::LineLog<LogLine>;

}  // namespace nri
