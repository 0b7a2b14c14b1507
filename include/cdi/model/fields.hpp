// Field lists: the members of a type and the CDI versions that define them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_FIELDS_HPP
#define CDI_MODEL_FIELDS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <cdi/model/spec_version.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Whether a field must appear in a document.
enum class Presence : std::uint8_t {
  required,    ///< must appear; always written
  omit_empty,  ///< may be missing; not written when empty
  keep_empty,  ///< may be missing; always written
};

/// Short for `Presence::required` in field lists.
inline constexpr Presence required = Presence::required;

/// The CDI versions that define a field: from `since` up to, but not including, `until`.
struct Lifetime {
  /// Later than every version: the value of `until` for fields in the newest version.
  static constexpr SpecVersion never{255, 255, 255};

  SpecVersion since = {};         ///< the first version with the field
  SpecVersion until = never;      ///< the first version without the field
  std::string_view instead = {};  ///< the key that replaces the field in `until`, if any

  /// A field of every version that a spec can name.
  constexpr Lifetime() = default;
  /// A field of `first` and all later versions. Implicit, for field lists.
  constexpr Lifetime(SpecVersion first) noexcept : since{first} {}
  /// A field from `first` until `gone`, which uses `then` instead; `then` is not copied.
  constexpr Lifetime(SpecVersion first, SpecVersion gone, std::string_view then) noexcept
      : since{first}, until{gone}, instead{then} {}

  /// Whether `version` defines the field.
  constexpr bool has(SpecVersion version) const { return since <= version && version < until; }
  /// Whether the newest versions lack the field.
  constexpr bool ended() const { return until != never; }
};

/// The traits of a field. The constructors are implicit, so that a field list names only what is
/// special: `required`, a `SpecVersion`, a `Lifetime`, or a pair in braces.
struct FieldTraits {
  Presence when = Presence::omit_empty;  ///< whether the field must appear in a document
  Lifetime lifetime = {};                ///< the CDI versions that define it; all for OCI types

  /// An optional field of every version.
  constexpr FieldTraits() = default;
  /// A field of every version, or of `versions`.
  constexpr FieldTraits(Presence presence, const Lifetime& versions = {}) noexcept
      : when{presence}, lifetime{versions} {}
  /// An optional field of `since` and all later versions.
  constexpr FieldTraits(SpecVersion since) noexcept : lifetime{since} {}
  /// An optional field of some versions.
  constexpr FieldTraits(const Lifetime& versions) noexcept : lifetime{versions} {}
};

/// One field of a described type: a document key, the member for its value, and its traits.
template <class Class, class T>
struct Field {
  using class_type = Class;  ///< the class of the field
  using value_type = T;      ///< the type of the value

  std::string_view key;                  ///< as written; case is ignored on reading
  T Class::*member;                      ///< points to the member
  Presence when = Presence::omit_empty;  ///< whether the field must appear in a document
  Lifetime lifetime = {};                ///< the CDI versions that define the field
};

namespace detail {

/// A field list that does nothing, used to check that a type can be listed.
struct NoList {
  template <class Class, class T>
  constexpr void operator()(const char*, T Class::*, const FieldTraits& = {}) {}
};

/// A field list that counts its fields.
struct CountList {
  std::size_t size = 0;

  constexpr void operator()(const char*, ...) { ++size; }  // a template only where necessary
  template <class Class, class T>
  constexpr void operator()(const char*, T Class::*, const FieldTraits&) {
    ++size;
  }
};

/// A field list that collects the addresses of an object's members. `Class` may be a base class.
template <class Object>
struct FieldPointerList {
  Object& object;
  void** out;

  template <class Class, class T>
  void operator()(const char*, T Class::*member) {
    *out++ = &(object.*member);
  }
  template <class Class, class T>
  void operator()(const char*, T Class::*member, const FieldTraits&) {
    *out++ = &(object.*member);
  }
};

/// A field list that visits fields until the visitor returns false.
template <class Visitor>
struct VisitList {
  Visitor& visit;
  bool go_on = true;

  template <class Class, class T>
  constexpr void operator()(const char* key, T Class::*member, const FieldTraits& traits = {}) {
    go_on = go_on && visit(Field<Class, T>{key, member, traits.when, traits.lifetime});
  }
};

}  // namespace detail

/// A type with a field list: a static member function that names at most 63 fields, in the order in
/// which they are written.
///
///     static constexpr void fields(auto& list) {
///       list("path", &Self::path, required);
///       list("timeout", &Self::timeout);
///     }
template <class T>
concept SelfDescribed = requires(detail::NoList& list) {
  T::fields(list);
};

/// Provides the field list of `T` as a static `constexpr` function `fields(auto& list)`. Specialize
/// this template for types that you cannot change.
template <class T>
struct Describe;

/// Forwards to the type's own field list.
template <SelfDescribed T>
struct Describe<T> {
  static constexpr void fields(auto& list) { T::fields(list); }
};

/// A type with a field list, which can be read, written and copied into another storage.
template <class T>
concept Described = requires(detail::NoList& list) {
  Describe<std::remove_cvref_t<T>>::fields(list);
};

/// The number of fields of `T`. A `static_assert` on it marks code that handles each field by hand,
/// so that the compiler names the code when a field is added.
template <Described T>
constexpr std::size_t field_count() {
  detail::CountList list;
  Describe<T>::fields(list);
  return list.size;
}

/// Calls `visit(field)` for each field of `T` in document order, until a call returns false.
/// Returns whether all calls returned true. Each `field` is a `Field` of a different type.
template <Described T, class Visitor>
constexpr bool every_field(Visitor&& visit) {
  detail::VisitList<std::remove_reference_t<Visitor>> list{visit};
  Describe<T>::fields(list);
  return list.go_on;
}

}  // namespace cdi

#endif  // CDI_MODEL_FIELDS_HPP
