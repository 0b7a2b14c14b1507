// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FIELDS_HPP
#define CDI_FIELDS_HPP

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cdi/value.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Whether a document must name a field.
enum class Presence : std::uint8_t {
  required,    ///< must be there, always written
  omit_empty,  ///< may be missing, not written when empty
  keep_empty,  ///< may be missing, always written
};

/// `Presence::required`, short for field lists.
inline constexpr Presence required = Presence::required;

/// A release of the CDI specification, ordered by number; 0.3.0, the default, is the first that a
/// spec file can name. SPEC.md, Released versions.
struct Release {
  std::uint8_t major = 0;  ///< its first number
  std::uint8_t minor = 3;  ///< its second number
  std::uint8_t patch = 0;  ///< its third number

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a pointer here
  friend constexpr auto operator<=>(const Release&, const Release&) = default;
};

/// A release as a `cdiVersion` names it: `0.5.0`.
inline std::string to_string(Release release) {
  std::string out = std::to_string(release.major);
  out.append(".").append(std::to_string(release.minor));
  out.append(".").append(std::to_string(release.patch));
  return out;
}

/// The releases of the CDI specification that have a field: from `since` on, before `until`.
struct Lifetime {
  /// Later than every release: the `until` of a field that is still there.
  static constexpr Release never{255, 255, 255};

  Release since = {};             ///< the first that has it
  Release until = never;          ///< the first that has it no more
  std::string_view instead = {};  ///< the key that `until` has instead; empty when still there

  /// Every release that a spec can name has the field.
  constexpr Lifetime() = default;
  /// The field came with `first`, and has stayed. Implicit, for field lists.
  // NOLINTNEXTLINE(google-explicit-constructor): most fields have come to stay
  constexpr Lifetime(Release first) noexcept : since{first} {}
  /// The field came with `first` and went with `gone`, which has `then` in its place; `then` is not
  /// copied.
  constexpr Lifetime(Release first, Release gone, std::string_view then) noexcept
      : since{first}, until{gone}, instead{then} {}

  /// Whether `release` has the field.
  constexpr bool has(Release release) const { return since <= release && release < until; }
  /// Whether the newest releases lack the field.
  constexpr bool ended() const { return until != never; }
};

/// One row of a field list: a document key, the member that holds its value, and in which releases.
///
/// `fields()` of a type gives a `std::tuple` of them, in the order in which they are written.
template <class Class, class T>
struct Field {
  using class_type = Class;  ///< the type whose field list it is in
  using value_type = T;      ///< of the member

  std::string_view key;                  ///< as documents write it; read in any case
  T Class::*member;                      ///< where the value is
  Presence when = Presence::omit_empty;  ///< whether a document must name it
  Lifetime lifetime = {};                ///< the CDI releases that have it; all for OCI types

  /// A row with everything said. The key is not copied.
  // Spelled out because Clang 14 does not deduce the arguments of an aggregate.
  constexpr Field(std::string_view k, T Class::*m, Presence p = Presence::omit_empty,
                  Lifetime l = {}) noexcept
      : key{k}, member{m}, when{p}, lifetime{l} {}
  /// A row of a field that may be missing, and that not every release has.
  constexpr Field(std::string_view k, T Class::*m, Lifetime l) noexcept
      : Field{k, m, Presence::omit_empty, l} {}
};

/// A type that carries its own field list, in a static member function `fields()`.
template <class T>
concept SelfDescribed = requires {
  T::fields();
};

/// Where the field list of `T` is: a static `constexpr` function `fields()`. Specialize it for
/// types whose definition is not yours.
template <class T>
struct Describe;

/// The field list that a type carries itself.
template <SelfDescribed T>
struct Describe<T> {
  static constexpr auto fields() { return T::fields(); }
};

/// A type that has a field list, and so can be read, written and converted.
template <class T>
concept Described = requires {
  Describe<std::remove_cvref_t<T>>::fields();
};

/// The field list of `T`, made once: a `std::tuple` of `Field`s.
template <Described T>
inline constexpr auto field_list = Describe<T>::fields();

/// Calls `visit(field)` for each field of `T` in document order; stops at the first `false`, and
/// says whether there was none. `field` is a `Field` of another type each time.
template <Described T, class Visitor>
constexpr bool every_field(Visitor&& visit) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (visit(std::get<I>(field_list<T>)) && ...);
  }
  (std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(field_list<T>)>>>{});
}

namespace detail {

template <class T>
concept TextLike = std::convertible_to<const T&, std::string_view>;

template <class T>
concept DictLike = requires {
  typename T::mapped_type;
};

template <class T>
concept ListLike = !TextLike<T> && !DictLike<T> && requires(T v) {
  v.emplace_back();
};

template <class T>
concept OptionalLike = requires(T v) {
  v.has_value();
  v.emplace();
};

}  // namespace detail

/// Whether a member holds nothing that a document would have to say: an absent optional, an empty
/// text, list or map, zero, false, or a described type whose fields are all empty.
template <class T>
constexpr bool is_empty(const T& value) {
  if constexpr (detail::OptionalLike<T>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (Described<T>) {
    if constexpr (Extensible<T>) {
      if (!value.extra.empty()) return false;
    }
    return every_field<T>([&](const auto& f) { return cdi::is_empty(value.*f.member); });
  } else {
    return value == T{};
  }
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_FIELDS_HPP
