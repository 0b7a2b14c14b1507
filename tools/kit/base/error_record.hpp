// Writes an error as a JSON record, in the form of all tools.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_BASE_ERROR_RECORD_HPP
#define CDI_TOOLS_KIT_BASE_ERROR_RECORD_HPP

#include <string_view>

#include <nlohmann/json.hpp>

#include <cdi/result.hpp>

namespace tools {

/// The record of an error or a warning; members that are unknown are left out.
inline nlohmann::ordered_json error_record(std::string_view level, const cdi::Error& error) {
  nlohmann::ordered_json record{{"level", level}, {"message", error.message}};
  if (!error.advice.empty()) record["advice"] = error.advice;
  if (!error.where.empty()) record["where"] = error.where;
  if (!error.position.file.empty()) record["file"] = error.position.file;
  if (error.position.line != 0) record["line"] = error.position.line;
  if (error.position.column != 0) record["column"] = error.position.column;
  if (!error.rule.empty()) record["rule"] = error.rule;
  return record;
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_BASE_ERROR_RECORD_HPP
