// Explains why a configuration file of an engine is not a JSON object.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include <cdi/result.hpp>
#include <cdi/text/json.hpp>

namespace tools {

/// The error, with the line and column if the text is not JSON. `path` is for messages.
inline cdi::Error json_settings_error(std::string_view text, const std::string& path) {
  const auto document = cdi::parse_json(text, path);
  if (!document) return document.error();
  return {.code = cdi::Errc::syntax,
          .message = "is not a JSON object",
          .position = document->root().position()};
}

}  // namespace tools
