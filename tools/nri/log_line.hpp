// A line of the log of cdi-nri.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/fields.hpp>

namespace nri {

/// A spec file whose edits a container got.
struct UsedSpec {
  std::string file{}, digest{};

  /// The field list.
  static constexpr void fields(auto& list) {
    list("file", &UsedSpec::file, cdi::required);
    list("digest", &UsedSpec::digest, cdi::required);
  }
};

/// The events of the log.
inline constexpr std::array<std::string_view, 8> log_events{
    "connected", "disconnected", "injected", "passed", "refused", "missing", "unknown", "ignored"};

/// A line of the log. Members that do not apply are empty, and absent from the JSON.
struct LogLine {
  std::int64_t version = 1;  // of the form of the lines
  std::string event{};       // of `log_events`
  std::string runtime{};     // its name and version
  std::string ns{}, pod{}, container{}, id{};
  std::vector<std::string> devices{};
  std::string way{};  // names or edits
  std::vector<UsedSpec> specs{};
  std::string error{};

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = LogLine;
    list("version", &Self::version, cdi::required);
    list("event", &Self::event, cdi::required);
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
};

}  // namespace nri
