// `Borrowing`: a type that refers to text owned elsewhere.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_BORROWED_HPP
#define CDI_MODEL_BORROWED_HPP

#include <concepts>
#include <type_traits>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/shapes.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

template <class T, class... Seen>
constexpr bool borrows();

/// A field list that looks for borrowed text. `Seen` lists the enclosing types.
template <class... Seen>
struct BorrowList {
  bool found = false;

  template <class Class, class T>
  constexpr void operator()(const char*, T Class::*, const FieldTraits& = {}) {
    found = found || borrows<T, Seen...>();
  }
};

template <class T, class... Seen>
constexpr bool borrows() {
  if constexpr ((std::same_as<T, Seen> || ...)) {
    return false;  // a recursive type: its other members decide
  } else if constexpr (Text<T>) {
    return std::is_trivially_destructible_v<T>;  // such as a string_view
  } else if constexpr (Object<T>) {
    BorrowList<Seen..., T> list;
    list_fields<T>(list);
    if constexpr (Extensible<T>) return list.found || borrows<decltype(T::extra), Seen..., T>();
    return list.found;
  } else if constexpr (Dict<T>) {
    return borrows<typename T::key_type, Seen...>() || borrows<typename T::mapped_type, Seen...>();
  } else if constexpr (Optional<T> || List<T>) {
    return borrows<typename T::value_type, Seen...>();
  } else {
    return false;
  }
}

/// Whether a type refers to text owned elsewhere, and so would dangle as a view of a temporary.
template <class T>
inline constexpr bool is_borrowed = borrows<T>();
/// A model borrows if its storage does.
template <template <class> class Model, Storage S>
inline constexpr bool is_borrowed<Model<S>> = std::is_trivially_destructible_v<StringOf<S>>;

}  // namespace detail

/// A type that refers to text owned elsewhere, such as `SpecView`.
template <class T>
concept Borrowing = detail::is_borrowed<T>;

}  // namespace cdi

#endif  // CDI_MODEL_BORROWED_HPP
