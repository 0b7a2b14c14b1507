// `AnyValue`: any JSON value, for members that are unknown to the library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_ANY_VALUE_HPP
#define CDI_MODEL_ANY_VALUE_HPP

#include <cstdint>
#include <string_view>

#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

template <class S>
struct BasicAnyMember;

/// The kinds of JSON value.
enum class ValueKind : std::uint8_t {
  null,     ///< `null`, the default
  boolean,  ///< `true` or `false`, in `BasicAnyValue::text`
  number,   ///< a JSON number as written, in `BasicAnyValue::text`
  text,     ///< a text, in `BasicAnyValue::text`
  list,     ///< items in `BasicAnyValue::members`, with empty keys
  map       ///< keys and values in `BasicAnyValue::members`
};

/// A JSON value of any shape, for the parts of a document that are unknown to the library. A number
/// keeps its original text and is written back unchanged; `to_json_value` converts it to a 64-bit
/// integer or a double, for `nlohmann::json`.
template <class S>
struct BasicAnyValue {
  ValueKind kind = ValueKind::null;  ///< decides which other member is in use
  StringOf<S> text{};  ///< the text; for a boolean or number, its spelling, such as `1e3`
  /// The members of a map in document order, or the items of a list, with empty keys.
  ListOf<S, BasicAnyMember<S>> members = no_items;

  /// Whether the value is null and need not be written.
  bool empty() const { return kind == ValueKind::null; }

  friend bool operator==(const BasicAnyValue&, const BasicAnyValue&) = default;
};

/// A key and its value, or an item in a list.
template <class S>
struct BasicAnyMember {
  StringOf<S> key{};         ///< as written; empty for a list item
  BasicAnyValue<S> value{};  ///< a value of any shape

  friend bool operator==(const BasicAnyMember&, const BasicAnyMember&) = default;
};

using AnyValue = BasicAnyValue<Owning>;
using AnyMember = BasicAnyMember<Owning>;

/// An object's unknown members, in document order. A described type with a member `extra` of this
/// type keeps unknown members and writes them after its fields; any other type rejects them. The
/// field list does not name it. Each key must be unique, and differ from every field's key.
template <class S>
using ExtraOf = ListOf<S, BasicAnyMember<S>>;

namespace detail {

template <class T>
inline constexpr bool is_any_value = false;
template <class S>
inline constexpr bool is_any_value<BasicAnyValue<S>> = true;

template <class T>
inline constexpr bool is_any_member = false;
template <class S>
inline constexpr bool is_any_member<BasicAnyMember<S>> = true;

/// Whether a text is a JSON number; YAML accepts more forms.
bool is_json_number(std::string_view text);

}  // namespace detail

/// A type that keeps unknown members in a member `extra` of type `ExtraOf`.
template <class T>
concept Extensible = requires(T value) {
  requires detail::is_any_member<typename decltype(value.extra)::value_type>;
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/any_value.inl>
#endif

#endif  // CDI_MODEL_ANY_VALUE_HPP
