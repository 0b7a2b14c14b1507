// `read`: makes a model from a `Document`, by its field list.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_READ_HPP
#define CDI_TEXT_READ_HPP

#include <cstddef>
#include <optional>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/release.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The error, or a warning, of reading a value.
struct Reading {
  Error why{};  // why the value could not be read
  std::optional<Document::Value>
      odd_case{};            // the first key whose case differs from that of its field
  std::string_view field{};  // that field
  /// The first boolean in quotes, or else the first text without quotes that is another text in
  /// YAML 1.1.
  std::optional<Document::Value> other_in_yaml_1_1{};
  bool is_strict = false;  // text and booleans are never read from scalars of another kind
  Release newest{};        // the newest `Lifetime::since` of the members, also of empty ones
  std::optional<Document::Value> newest_key{};  // the first key of that release; none for 0.3.0
  std::size_t bytes_left = 0;                   // that the items of lists and dicts may take
};

/// The scalars that are read as text.
enum class TextAs : bool {
  any_scalar,  // the Go reference of CDI reads 1.0 as "1.0"
  text_only,   // the Go types of OCI refuse it
};

/// The scalars that a type reads as text. The types that keep unknown members are those of OCI.
inline TextAs text_as(const Type& type, const Reading& reading) {
  return reading.is_strict || type.extra != nullptr ? TextAs::text_only : TextAs::any_scalar;
}

/// Reads a value of any type that a field can have; `text` depends on the type of its owner.
bool read_value(const Document::Value& value, void* self, const Type& type, TextAs text,
                Reading& reading);

/// Reads a `BasicAnyValue`, which cannot fail.
void read_any(const Document::Value& value, void* self, const Type& type);

/// As `read`; `reading` also gets a warning about a value that could be read.
template <class T>
Result<T> read_noting(const Document::Value& value, Reading& reading) {
  T out{};
  const Type& type = table_of<T>();
  reading.bytes_left = value.document().most_model_bytes();
  if (!detail::read_value(value, &out, type, text_as(type, reading), reading)) return reading.why;
  return out;
}

#ifdef CDI_COMPILED
extern template Result<Spec> read_noting(const Document::Value& value, Reading& reading);
extern template Result<SpecView> read_noting(const Document::Value& value, Reading& reading);
extern template Result<oci::Spec> read_noting(const Document::Value& value, Reading& reading);
extern template Result<oci::SpecView> read_noting(const Document::Value& value, Reading& reading);
#endif

}  // namespace detail

/// Reads a described type. Unknown, repeated and missing fields and null list items are refused
/// with `Errc::schema`, a path and a position. Field names match in any case, as in the Go
/// reference; null means absent. A type with `Borrowed` storage points into the document, which
/// must outlive it. Does not check values; `validate` does. Costs one pass.
///
/// CDI types read any scalar as text, like the Go reference: 1.0 is "1.0". Types with a member
/// `extra`, which are those of OCI, keep unknown members in it, and refuse numbers, true and false
/// where a text is expected.
template <Described T>
Result<T> read(const Document::Value& value) {
  detail::Reading reading;
  return detail::read_noting<T>(value, reading);
}

/// Reads a described type from the root of a document.
template <Described T>
Result<T> read(const Document& document) {
  return cdi::read<T>(document.root());
}
/// The same for a temporary document and a type that owns its text.
template <Described T>
Result<T> read(const Document&& document) requires(!Borrowing<T>) {
  return cdi::read<T>(document.root());
}
/// Deleted: the result would point into a temporary document.
template <Described T>
Result<T> read(const Document&& document) requires Borrowing<T>
= delete;

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/read.inl>
#endif

#endif  // CDI_TEXT_READ_HPP
