// Reading and writing models as YAML text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_YAML_HPP
#define CDI_TEXT_YAML_YAML_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/write.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Reads a described type that owns its text from YAML text. Fails with the errors of `parse_yaml`
/// and `read`. `parse_spec` also checks the CDI rules.
template <Described T>
  requires(!Borrowing<T>)
Result<T> read_yaml(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

/// A `Sink` that writes YAML text in block style, with two spaces per level. A text is quoted if
/// a reader of YAML 1.1 or 1.2 could read it as another type. The order of calls is not checked.
class YamlSink {
 public:
  /// Begins a map.
  void begin_map() { begin({.is_list = false}); }
  /// Ends the innermost map; an empty map becomes `{}`.
  void end_map() { end("{}"); }
  /// Begins a list.
  void begin_list() { begin({.is_list = true}); }
  /// Ends the innermost list; an empty list becomes `[]`.
  void end_list() { end("[]"); }
  /// Writes a key of the innermost map; the value comes next.
  void key(std::string_view name);
  /// Writes a text, in double quotes where needed.
  void text(std::string_view value);
  /// Writes a signed integer in decimal.
  void integer(std::int64_t value);
  /// Writes an unsigned integer in decimal.
  void unsigned_integer(std::uint64_t value);
  /// Writes `true` or `false`.
  void boolean(bool value) { scalar(value ? "true" : "false"); }
  /// Writes `null`.
  void null() { scalar("null"); }
  /// Writes a JSON number, and adds the decimal point and exponent sign that YAML 1.1 requires.
  void number(std::string_view value);

  /// Whether all texts and numbers can be read back; `Errc::invalid` for the first that cannot.
  const Result<void>& good() const { return check_.result; }

  /// Returns the text as one document, after `---`. Call this once, after the last value.
  std::string take() && { return std::move(out_); }

 private:
  enum class Place : std::uint8_t { line_begin, after_key, after_dash };

  /// An open list or map.
  struct Level {
    bool is_list = false;
    Place begins = Place::line_begin;
    bool empty = true;
  };

  static std::string in_quotes_if_needed(std::string_view text);
  /// Begins a line for a key or dash, unless it can follow an enclosing dash on the same line.
  void begin_line();
  /// Writes the dash of a list item.
  void begin_value();
  void scalar(std::string_view value);
  void begin(Level level);
  void end(std::string_view nothing);

  std::string out_ = "---\n";
  detail::WriteCheck check_{};
  std::vector<Level> open_{};
  Place place_ = Place::line_begin;
};

namespace detail {

/// Implements `write_yaml` for any described type.
Result<std::string> write_yaml_text(const void* self, const Type& type);

}  // namespace detail

/// Writes a described type as YAML text, in field list order; the text ends with a newline. Fails
/// with `Errc::invalid` if a text is not UTF-8, or a number in an `extra` is not a JSON number. The
/// CDI rules are not checked; see `write_spec`.
template <Described T>
Result<std::string> write_yaml(const T& value) {
  return detail::write_yaml_text(&value, detail::table_of<T>());
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/yaml/yaml.inl>
#endif

#endif  // CDI_TEXT_YAML_YAML_HPP
