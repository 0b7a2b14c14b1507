// Field lists: the members of a type, and the CDI releases that have them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_FIELDS_HPP
#define CDI_MODEL_FIELDS_HPP

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <cdi/model/release.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Whether a document must name a field.
enum class Presence : std::uint8_t {
  required,    ///< must be in a document; always written
  omit_empty,  ///< may be missing; not written when empty
  keep_empty,  ///< may be missing; always written
};

/// `Presence::required`, short for field lists.
inline constexpr Presence required = Presence::required;

/// The releases of the CDI specification that have a field: from `since` up to but not `until`.
struct Lifetime {
  /// Later than every release: the `until` of a field of the newest release.
  static constexpr Release never{255, 255, 255};

  Release since = {};             ///< the first that has it
  Release until = never;          ///< the first that no longer has it
  std::string_view instead = {};  ///< the key that replaces it in `until`, if there is one

  /// Every release that a spec can name has the field.
  constexpr Lifetime() = default;
  /// From `first` on. Implicit, for field lists.
  constexpr Lifetime(Release first) noexcept : since{first} {}
  /// From `first` up to but not `gone`, which has `then` instead; `then` is not copied.
  constexpr Lifetime(Release first, Release gone, std::string_view then) noexcept
      : since{first}, until{gone}, instead{then} {}

  /// Whether `release` has the field.
  constexpr bool has(Release release) const { return since <= release && release < until; }
  /// Whether the newest releases lack the field.
  constexpr bool ended() const { return until != never; }
};

/// The traits of a field. Constructors are implicit, so that a field list names only what is
/// special: `required`, a `Release`, a `Lifetime`, or a pair in braces.
struct FieldTraits {
  Presence when = Presence::omit_empty;  ///< whether a document must name it
  Lifetime lifetime = {};                ///< the CDI releases that have it; all for OCI types

  /// A field that may be missing, and that every release has.
  constexpr FieldTraits() = default;
  /// A field that every release has.
  constexpr FieldTraits(Presence presence, const Lifetime& releases = {}) noexcept
      : when{presence}, lifetime{releases} {}
  /// A field that may be missing, and that releases have from `since` on.
  constexpr FieldTraits(Release since) noexcept : lifetime{since} {}
  /// A field that may be missing, and that some releases have.
  constexpr FieldTraits(const Lifetime& releases) noexcept : lifetime{releases} {}
};

/// One field of a described type: a document key, the member that holds its value, and its traits.
template <class Class, class T>
struct Field {
  using class_type = Class;  ///< the type that has the field
  using value_type = T;      ///< the type of the member

  std::string_view key;                  ///< as it is written; read in any case
  T Class::*member;                      ///< the member that holds the value
  Presence when = Presence::omit_empty;  ///< whether a document must name it
  Lifetime lifetime = {};                ///< the CDI releases that have it
};

namespace detail {

/// A field list that does nothing, to check whether a type has one.
struct NoList {
  template <class Class, class T>
  constexpr void operator()(const char*, T Class::*, const FieldTraits& = {}) {}
};

/// A field list that visits each field until the visitor returns false.
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

/// A type with a field list: a static member function that names its fields, in the order in which
/// they are written. It has at most 63.
///
///     static constexpr void fields(auto& list) {
///       list("path", &Self::path, required);
///       list("timeout", &Self::timeout);
///     }
template <class T>
concept SelfDescribed = requires(detail::NoList& list) {
  T::fields(list);
};

/// Has the field list of `T`: a static `constexpr` function `fields(auto& list)`. Specialize it for
/// types that you cannot change.
template <class T>
struct Describe;

/// The field list that is a member of the type.
template <SelfDescribed T>
struct Describe<T> {
  static constexpr void fields(auto& list) { T::fields(list); }
};

/// A type that has a field list, so that it can be read, written and copied into another storage.
template <class T>
concept Described = requires(detail::NoList& list) {
  Describe<std::remove_cvref_t<T>>::fields(list);
};

/// Calls `visit(field)` for each field of `T` in document order, until it returns false. Returns
/// whether all calls returned true. Each `field` is a `Field` of its own type.
template <Described T, class Visitor>
constexpr bool every_field(Visitor&& visit) {
  detail::VisitList<std::remove_reference_t<Visitor>> list{visit};
  Describe<T>::fields(list);
  return list.go_on;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_FIELDS_HPP
