// Models from and to YAML text.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// Reads a described type, which owns its text, from YAML text. Errors are those of `parse_yaml`
/// and `read`. Does not check the CDI rules; `parse_spec` does.
template <Described T>
  requires(!Borrowing<T>)
Result<T> read_yaml(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  const auto document = cdi::parse_yaml(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

/// A `Sink` that writes YAML text in block style, two spaces per level. A text that some reader of
/// YAML 1.1 or 1.2 would not read as text is quoted. The order of calls is not checked.
class YamlSink {
 public:
  /// Begins a map.
  void begin_map() { begin({.is_list = false}); }
  /// Ends the innermost map; one without keys is `{}`.
  void end_map() { end("{}"); }
  /// Begins a list.
  void begin_list() { begin({.is_list = true}); }
  /// Ends the innermost list; one without items is `[]`.
  void end_list() { end("[]"); }
  /// A key of the innermost map; its value comes next.
  void key(std::string_view name);
  /// A text, in double quotes where it needs them.
  void text(std::string_view value);
  /// A whole number, in decimal digits.
  void integer(std::int64_t value);
  /// A whole number, in decimal digits.
  void unsigned_integer(std::uint64_t value);
  /// `true` or `false`.
  void boolean(bool value) { scalar(value ? "true" : "false"); }
  /// `null`.
  void null() { scalar("null"); }
  /// A JSON number, with a point before its exponent and a sign in it, as YAML 1.1 requires.
  void number(std::string_view value);

  /// Whether all texts and numbers can be read again; `Errc::invalid` for the first that cannot.
  const Result<void>& good() const { return check_.result; }

  /// The text, as one document, with `---` before it; once, after the last value.
  std::string take() && { return std::move(out_); }

 private:
  enum class Place : std::uint8_t { line_begin, after_key, after_dash };

  /// A list or map that is not ended.
  struct Level {
    bool is_list = false;
    Place begins = Place::line_begin;
    bool empty = true;
  };

  static std::string in_quotes_if_needed(std::string_view text);
  /// Begins the line of a key or dash. The first line of an item of a list is that of its dash.
  void begin_line();
  /// Writes the dash of an item.
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

/// As `write_yaml`, for a value of any described type.
Result<std::string> write_yaml_text(const void* self, const Type& type);

}  // namespace detail

/// A described type as YAML text, in the order of the field list; ends with a newline.
/// `Errc::invalid` when a text in it is not UTF-8, or a number in an `extra` is not a JSON number.
/// Does not check the CDI rules; `write_spec` does.
template <Described T>
Result<std::string> write_yaml(const T& value) {
  return detail::write_yaml_text(&value, detail::table_of<T>());
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/yaml/yaml.inl>
#endif

#endif  // CDI_TEXT_YAML_YAML_HPP
