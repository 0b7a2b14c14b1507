// JSON for output.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_BASE_JSON_OUTPUT_HPP
#define CDI_TOOLS_GPU_BASE_JSON_OUTPUT_HPP

#include <string>

#include <nlohmann/json.hpp>

namespace prepare {

/// A JSON value for output; members keep their order.
using Json = nlohmann::ordered_json;

/// The JSON text of a value, in ASCII, because terminals interpret other characters. Bytes that are
/// not UTF-8, as in a name from a device, are replaced.
inline std::string json_text(const Json& value) {
  return value.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// A result with the version of its form, which changes if a member changes its meaning or is gone.
inline Json result_json(const Json& members) {
  Json out{{"version", 1}};
  out.update(members);
  return out;
}

/// The JSON text of a value, as above, on one line.
inline std::string json_line(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_BASE_JSON_OUTPUT_HPP
