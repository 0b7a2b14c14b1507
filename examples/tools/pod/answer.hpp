// The answer of a command: JSON for standard output, warnings for standard error.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_ANSWER_HPP
#define CDI_TOOLS_POD_ANSWER_HPP

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace pod {

using Json = nlohmann::ordered_json;

/// The answer of a command.
struct Answer {
  Json value = Json::object();
  std::vector<std::string> warnings{};  // each a sentence without a full stop
};

/// Prints `cdi-pod: error: ...`, or a warning, on standard error.
inline void print_message(std::string_view level, std::string_view message) {
  const auto line =
      std::string{"cdi-pod: "}.append(level).append(": ").append(message).append("\n");
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_ANSWER_HPP
