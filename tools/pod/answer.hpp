// The answer of a command: JSON for standard output, warnings for standard error.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_ANSWER_HPP
#define CDI_TOOLS_POD_ANSWER_HPP

#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "../kit/help/terminal_text.hpp"

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
  const auto text = tools::text_for(STDERR_FILENO, line);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_ANSWER_HPP
