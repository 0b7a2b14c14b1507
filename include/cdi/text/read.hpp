// `read`: creates a model from a `Document`, following its field list.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_READ_HPP
#define CDI_TEXT_READ_HPP

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The error or warning from reading a value.
struct Reading {
  Error why{};                          // why the value could not be read
  std::vector<Error>* every = nullptr;  // if not null, reading goes on after errors, kept here
  std::optional<Document::Value> odd_case{};  // the first key that differs from its field in case
  std::string_view field{};                   // the field of `odd_case`
  /// The first quoted boolean; otherwise, the first unquoted text that YAML 1.1 reads as a
  /// different text.
  std::optional<Document::Value> other_in_yaml_1_1{};
  bool is_strict = false;  // never converts other scalars to text or boolean
  SpecVersion newest{};    // the newest `Lifetime::since` of all members, even empty ones
  std::optional<Document::Value> newest_key{};  // the first key of that version; none for 0.3.0
  std::size_t bytes_left = 0;                   // memory left for the items of lists and dicts
};

/// Which scalars are read as text.
enum class TextAs : bool {
  any_scalar,  // the Go reference for CDI reads 1.0 as "1.0"
  text_only,   // the Go types for OCI reject other scalars
};

/// Which scalars a type reads as text. CDI types neither keep nor skip unknown members.
inline TextAs text_as(const Type& type, const Reading& reading) {
  return reading.is_strict || type.takes_unknown ? TextAs::text_only : TextAs::any_scalar;
}

/// Reads a value of any field type; the type of the enclosing object determines `text`.
bool read_value(const Document::Value& value, void* self, const Type& type, TextAs text,
                Reading& reading);

/// Reads a `BasicAnyValue`; this cannot fail.
void read_any(const Document::Value& value, void* self, const Type& type);

/// Returns the value of a member, ignoring the case of its key.
std::optional<Document::Value> find_member(const Document::Value& map, std::string_view name);

/// Implements `read`; `reading` also receives warnings about values that were read.
template <class T>
Result<T> read_noting(const Document::Value& value, Reading& reading) {
  T out{};
  const Type& type = table_of<T>();
  reading.bytes_left = value.document().max_model_bytes();
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

/// Reads a described type. For unknown, repeated and missing fields and null list items, fails with
/// `Errc::schema`, with path and position. As in the Go reference, the case of field names is
/// ignored, and null means absent. A type with `Borrowed` storage points into the document, which
/// must outlive the result. Values are not checked; use `validate`. Costs one pass.
///
/// Like the Go reference, CDI types read any scalar as text: 1.0 is "1.0". OCI types keep unknown
/// members in their member `extra`, and reject a number or boolean where text is expected. So does
/// a type with `static constexpr bool skips_unknown = true;`, which ignores unknown members: it
/// describes a part of a larger document, such as an object of Kubernetes.
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
/// Reads a type that owns its text from a temporary document.
template <Described T>
Result<T> read(const Document&& document) requires(!Borrowing<T>) {
  return cdi::read<T>(document.root());
}
/// Deleted: the result would point into a temporary document.
template <Described T>
Result<T> read(const Document&& document) requires Borrowing<T>
= delete;

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/read.inl>
#endif

#endif  // CDI_TEXT_READ_HPP
