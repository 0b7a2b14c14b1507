// The log of cdi-nri: a line for each event, as text or JSON.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_LOG_HPP
#define CDI_TOOLS_NRI_LOG_HPP

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

namespace nri {

/// A line of the log. Members that do not apply are empty, and absent from the JSON.
struct LogLine {
  std::int64_t version = 1;  // of the form of the lines
  // connected, disconnected, injected, passed, refused, missing, unknown, ignored
  std::string event{};
  std::string runtime{};  // its name and version
  std::string ns{}, pod{}, container{}, id{};
  std::vector<std::string> devices{};
  std::string way{};  // names or edits
  std::vector<UsedSpec> specs{};
  std::string error{};

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = LogLine;
    list("version", &Self::version);
    list("event", &Self::event);
    list("runtime", &Self::runtime);
    list("namespace", &Self::ns);
    list("pod", &Self::pod);
    list("container", &Self::container);
    list("id", &Self::id);
    list("devices", &Self::devices);
    list("way", &Self::way);
    list("specs", &Self::specs);
    list("error", &Self::error);
  }

  /// The names of the container.
  LogLine& about(const PodSandbox& the_pod, const Container& the_container) {
    ns = tools::one_line(the_pod.namespace_());
    pod = tools::one_line(the_pod.name());
    container = tools::one_line(the_container.name());
    id = tools::one_line(the_container.id());
    return *this;
  }
};

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

#endif  // CDI_TOOLS_NRI_LOG_HPP
