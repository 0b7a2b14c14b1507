// `read`: a model from a `Document`, by its field list.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_READ_HPP
#define CDI_TEXT_READ_HPP

#include <optional>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// What comes of reading beside the value.
struct Reading {
  Error why{};                                // of what could not be read
  std::optional<Document::Value> odd_case{};  // the first key in another case than its field's
  std::string_view field{};                   // that field
};

/// What a text may be written as.
enum class TextAs : bool {
  any_scalar,  // the Go reference of CDI reads 1.0 as "1.0"
  text_only,   // that of OCI refuses it
};

/// What the texts of a type may be written as: OCI types are those that keep unknown members.
inline TextAs text_as(const Type& type) {
  return type.extra != nullptr ? TextAs::text_only : TextAs::any_scalar;
}

/// Reads a value of any type that a field can have; `text` is what its owner asks of texts.
bool read_value(const Document::Value& value, void* self, const Type& type, TextAs text,
                Reading& reading);

/// Reads a `BasicValue`, which every value makes.
void read_any(const Document::Value& value, void* self, const Type& type);

/// As `read`; `reading` also gets the warnings about a value that could be read.
template <class T>
Result<T> read_noting(const Document::Value& value, Reading& reading) {
  T out{};
  const Type& type = table_of<T>();
  if (!detail::read_value(value, &out, type, text_as(type), reading)) return reading.why;
  return out;
}

#ifdef CDI_COMPILED
extern template Result<Spec> read_noting(const Document::Value& value, Reading& reading);
extern template Result<SpecView> read_noting(const Document::Value& value, Reading& reading);
extern template Result<oci::Spec> read_noting(const Document::Value& value, Reading& reading);
extern template Result<oci::SpecView> read_noting(const Document::Value& value, Reading& reading);
#endif

}  // namespace detail

/// Reads a described type, refusing unknown, repeated and missing fields and null list items; the
/// error, `Errc::schema`, names path and position. Field names match in any case, as in the Go
/// reference; null means absent. A type with `Borrowed` storage points into the document, which
/// must outlive it. Rules on values are for `validate` to look at. Costs one pass.
///
/// CDI types take any scalar for text, as the Go reference does: 1.0 is "1.0". Types with a member
/// `extra`, which are those of OCI, keep there what they do not know, and refuse numbers, true and
/// false where text is asked for.
template <Described T>
Result<T> read(const Document::Value& value) {
  detail::Reading reading;
  return detail::read_noting<T>(value, reading);
}

/// Reads a described type from the whole of a document.
template <Described T>
Result<T> read(const Document& document) {
  return cdi::read<T>(document.root());
}
/// The same of a document that is about to go, for types that own their text.
template <Described T>
Result<T> read(const Document&& document) requires(!detail::is_borrowed<T>) {
  return cdi::read<T>(document.root());
}
/// Not there: what is read would point into a document that is about to go.
template <Described T>
Result<T> read(const Document&& document) requires detail::is_borrowed<T>
= delete;

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/impl/read.hpp>
#endif

#endif  // CDI_TEXT_READ_HPP
