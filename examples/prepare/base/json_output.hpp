// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_BASE_JSON_OUTPUT_HPP
#define CDI_PREPARE_BASE_JSON_OUTPUT_HPP

#include <string>

#include <nlohmann/json.hpp>

namespace prepare {

/// What is printed as JSON; members stay in their order.
using Json = nlohmann::ordered_json;

/// JSON text of a value, in ASCII: a terminal obeys other characters too. Bytes that are no UTF-8,
/// as a device could have them, are replaced.
inline std::string json_text(const Json& value) {
  return value.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace prepare

#endif  // CDI_PREPARE_BASE_JSON_OUTPUT_HPP
