// The input of a command, JSON or YAML, and the reasons why it has no answer.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>
#include <cdi/yaml.hpp>

namespace pod {

using Annotations = std::map<std::string, std::string, std::less<>>;

/// The reason why a command has no answer. `main` prints it.
struct Rejection : std::runtime_error {
  using runtime_error::runtime_error;
  explicit Rejection(const cdi::Error& why) : runtime_error{to_string(why)} {}
};

/// The value of a result; throws its error as a `Rejection`.
template <class T>
T value_or_throw(cdi::Result<T> result) {
  if (!result) throw Rejection{result.error()};
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// A member of a document, such as `pod.spec.containers[0]`, for errors. Valid as long as the
/// document.
struct Place {
  const cdi::Document* document = nullptr;
  std::string path{};

  Place at(std::string_view key) const { return {document, cdi::detail::inner_path(path, key)}; }
  Place item(std::size_t index) const { return {document, cdi::detail::item_path(path, index)}; }

  /// Throws an error about this member, or if it is missing, about the enclosing one.
  [[noreturn]] void reject(std::string message) const {
    throw Rejection{cdi::Error{.code = cdi::Errc::schema,
                               .message = std::move(message),
                               .where = path,
                               .position = document->locate(path)}};
  }
};

/// Parses JSON, which begins with a bracket or brace, or YAML. `name` is a path, or what the text
/// is.
inline cdi::Document parse_input(std::string_view text, const std::string& name) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] == '{' || text[first] == '[') {
    return value_or_throw(cdi::parse_json(text, name));
  }
  auto yaml = value_or_throw(cdi::parse_yaml(text, name));
  if (const auto rest = yaml.rest()) {
    throw Rejection{
        cdi::Error{.message = "the input has more than one document", .position = *rest}};
  }
  return yaml;
}

/// Parses a file, or for `-` standard input.
inline cdi::Document read_input(const std::string& file) {
  if (file != "-") return parse_input(value_or_throw(cdi::read_file(file)), file);
  constexpr const char* name = "standard input";
  return parse_input(value_or_throw(cdi::read_all(STDIN_FILENO, name, cdi::Limits{}.bytes)), name);
}

/// Reads a described type, or a list of them. Only text is read as text, not a number.
template <class T>
T read_as(const cdi::Document& document) {
  cdi::detail::Reading reading;
  reading.is_strict = true;
  return value_or_throw(cdi::detail::read_noting<T>(document.root(), reading));
}

}  // namespace pod
