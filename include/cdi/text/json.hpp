// Reading and writing JSON text for models and your own described structs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_JSON_HPP
#define CDI_TEXT_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/write.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {
class JsonPatch;
}

/// A `Sink` that writes JSON text, indented by `indent` spaces per level, or on one line if
/// `indent` is negative. The text ends without a newline. Numbers are written as given. The order
/// of calls is not checked.
class JsonTextSink {
 public:
  /// Sets the indentation.
  explicit JsonTextSink(int indent = 2);

  /// Begins a map.
  void begin_map() { begin('{'); }
  /// Ends the innermost map.
  void end_map() { end('}'); }
  /// Begins a list.
  void begin_list() { begin('['); }
  /// Ends the innermost list.
  void end_list() { end(']'); }
  /// Writes a key of the innermost map; the value comes next.
  void key(std::string_view name);
  /// Writes a text.
  void text(std::string_view value);
  /// Writes a signed integer.
  void integer(std::int64_t value);
  /// Writes an unsigned integer.
  void unsigned_integer(std::uint64_t value);
  /// Writes `true` or `false`.
  void boolean(bool value) { word(value ? "true" : "false"); }
  /// Writes a JSON number.
  void number(std::string_view value);
  /// Writes `null`.
  void null() { word("null"); }

  /// Whether all texts and numbers can be read back; `Errc::invalid` for the first that cannot.
  const Result<void>& good() const { return check_.result; }

  /// The output so far. Valid until the next call.
  std::string_view written() const { return std::string_view{out_}.substr(0, size_); }
  /// Returns the text. Call this once, after the last value.
  std::string take() &&;

 private:
  friend class detail::JsonPatch;  // writes new values with the blanks of an old text

  char* room(std::size_t bytes);
  void put(char c);
  void put(std::string_view text);
  std::size_t put_special(std::string_view text);
  void put_string(std::string_view text);

  void begin_item();
  void begin_line();
  void begin_value();
  void word(std::string_view value);
  void begin(char bracket);
  void end(char bracket);

  std::string line_{};    // begins a new line outside all lists and maps; empty for a single line
  std::string unit_{};    // the indentation that each list or map adds
  bool is_spaced_;        // a space follows each colon, and each comma within a line
  std::string out_{};     // larger than the output, to avoid frequent growth
  std::size_t size_ = 0;  // size of the output
  detail::WriteCheck check_{};
  std::size_t open_ = 0;    // open lists and maps
  bool empty_ = true;       // the innermost list or map is empty
  bool after_key_ = false;  // the next call must write a value
};

namespace detail {

template <class T>
Result<T> read_json_text(std::string_view text, std::string_view file, const Limits& limits) {
  const auto document = cdi::parse_json(text, file, limits);
  if (!document) return document.error();
  return cdi::read<T>(*document);
}

#ifdef CDI_COMPILED
extern template Result<Spec> read_json_text(std::string_view, std::string_view, const Limits&);
extern template Result<oci::Spec> read_json_text(std::string_view, std::string_view, const Limits&);
#endif

}  // namespace detail

/// Reads a described type that owns its text from JSON text. Fails with the errors of `parse_json`
/// and `read`. `parse_spec` also checks the CDI rules.
template <Described T>
  requires(!Borrowing<T>)
Result<T> read_json(std::string_view text, std::string_view file = {}, const Limits& limits = {}) {
  return detail::read_json_text<T>(text, file, limits);
}

namespace detail {

/// Implements `write_json` for any described type.
Result<std::string> write_json_text(const void* self, const Type& type, int indent);

}  // namespace detail

/// Writes a described type as JSON text, indented by `indent` spaces per level, or on one line if
/// `indent` is negative. Fails with `Errc::invalid` if a text is not UTF-8, or a number in an
/// `extra` is not a JSON number. Writes no final newline. `write_spec` also checks the CDI rules.
template <Described T>
Result<std::string> write_json(const T& value, int indent = 2) {
  return detail::write_json_text(&value, detail::table_of<T>(), indent);
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/json.inl>
#endif

#endif  // CDI_TEXT_JSON_HPP
