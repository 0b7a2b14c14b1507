// Results of tools as JSON and YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/model/any_value.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/result.hpp>
#include <cdi/text/write.hpp>

// A result is a described struct, or a list of them: its field list is what the JSON, the YAML and
// the schema (schema/results-1.json) are made from.

namespace tools {

namespace detail {

std::string json_text(const void* self, const cdi::detail::Type& type, int indent);
std::string yaml_text(const void* self, const cdi::detail::Type& type);

}  // namespace detail

/// The JSON text of a result and a newline, in ASCII, so that no character controls a terminal.
/// Bytes that are not UTF-8, as in some file names, become U+FFFD. A negative `indent` writes one
/// line.
template <class T>
std::string json_text(const T& result, int indent = 2) {
  return detail::json_text(&result, cdi::detail::table_of<T>(), indent);
}

/// The JSON text of a result on one line.
template <class T>
std::string json_line(const T& result) {
  return json_text(result, -1);
}

/// The YAML text of a result. Bytes that are not UTF-8 become U+FFFD.
template <class T>
std::string yaml_text(const T& result) {
  return detail::yaml_text(&result, cdi::detail::table_of<T>());
}

/// A JSON text as a value. Fails with the errors of `cdi::parse_json`.
cdi::Result<cdi::AnyValue> any_of_json(std::string_view text);

/// A JSON text with a line for each member, indented by two spaces. The text must be JSON.
std::string indented_json(std::string_view text);

/// A JSON text as YAML. Fails with the errors of `cdi::parse_json`; numbers stay exact.
cdi::Result<std::string> yaml_of_json(std::string_view text, std::string_view file);

/// A text for a member that is always written, and null if the text is empty.
inline std::optional<std::string> text_or_null(std::string text) {
  return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

}  // namespace tools
