// `AnyValue`: any JSON value, for members that the library does not know.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_ANY_VALUE_HPP
#define CDI_MODEL_ANY_VALUE_HPP

#include <cstdint>
#include <string_view>

#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

template <class S>
struct BasicAnyMember;

/// The kinds of JSON values.
enum class ValueKind : std::uint8_t {
  null,     ///< `null`, the default
  boolean,  ///< `true` or `false`, in `BasicAnyValue::text`
  number,   ///< a JSON number as it was written, in `BasicAnyValue::text`
  text,     ///< a text, in `BasicAnyValue::text`
  list,     ///< items, in `BasicAnyValue::members`, whose keys are empty
  map       ///< keys and values, in `BasicAnyValue::members`
};

/// A JSON value of any shape, for parts of a document that the library does not know. Numbers keep
/// their text, and are written as they were read; `to_json_value` makes them 64-bit integers or
/// doubles, which a `nlohmann::json` can hold.
template <class S>
struct BasicAnyValue {
  ValueKind kind = ValueKind::null;  ///< decides which of the other members is used
  StringOf<S> text{};  ///< of a text; of a boolean or number, as it was written, such as `1e3`
  /// The members of a map, in the order written; the items of a list, without keys.
  ListOf<S, BasicAnyMember<S>> members = no_items;

  /// Whether it is null, and so need not be written.
  bool empty() const { return kind == ValueKind::null; }

  friend bool operator==(const BasicAnyValue&, const BasicAnyValue&) = default;
};

/// A key and its value, or an item of a list.
template <class S>
struct BasicAnyMember {
  StringOf<S> key{};         ///< as it was written; empty for an item of a list
  BasicAnyValue<S> value{};  ///< of any shape

  friend bool operator==(const BasicAnyMember&, const BasicAnyMember&) = default;
};

using AnyValue = BasicAnyValue<Owning>;
using AnyMember = BasicAnyMember<Owning>;

/// The members of an object that its type does not know, in the order written. A described type
/// with a member `extra` of this type keeps them, and writes them after its fields; one without
/// refuses them. Keys must differ from each other and from those of the fields.
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

/// Whether a text is a JSON number; YAML has more forms.
bool is_json_number(std::string_view text);

}  // namespace detail

/// A type that keeps unknown members, in a member `extra` of type `ExtraOf`.
template <class T>
concept Extensible = requires(T value) {
  requires detail::is_any_member<typename decltype(value.extra)::value_type>;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/any_value.inl>
#endif

#endif  // CDI_MODEL_ANY_VALUE_HPP
