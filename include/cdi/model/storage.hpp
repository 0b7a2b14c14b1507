// How models hold text, lists and maps: their own, or views of a document.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_STORAGE_HPP
#define CDI_MODEL_STORAGE_HPP

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Where the text and the elements of a model live. A storage names a type and two templates,
/// nothing more: `String`, `List<T>` and `Dict<T>`. `Owning` and `Borrowed` are the two that come
/// with the library.
///
/// A list is made without items or of their number, can be assigned, and has `data()`, `size()`,
/// `reserve()` and `emplace_back()`, as a `std::vector`; a `Dict` is made of `std::less<>`, as a
/// `std::map` is.
template <class S>
concept Storage = std::convertible_to<typename S::String, std::string_view> && requires {
  typename S::template List<int>;
  typename S::template Dict<int>;
};

/// The text type of a storage.
template <class S>
using StringOf = typename S::String;
/// The list type of a storage.
template <class S, class T>
using ListOf = typename S::template List<T>;
/// The type of a storage for values by text.
template <class S, class T>
using DictOf = typename S::template Dict<T>;

/// Models that own everything they mention. The default.
struct Owning {
  using String = std::string;  ///< text with bytes of its own
  /// A list with elements of its own.
  template <class T>
  using List = std::vector<T>;
  /// Values by keys that are its own, sorted by bytes; looked up by `std::string_view` too.
  template <class T>
  using Dict = std::map<std::string, T, std::less<>>;
};

/// Models whose text points into someone else's, such as a `Document`, which must outlive them.
/// Lists and dictionaries are their own, so making one allocates, but copies no text.
struct Borrowed {
  using String = std::string_view;  ///< text that another owns
  /// A list with elements of its own, whose text another owns.
  template <class T>
  using List = std::vector<T>;
  /// Values by keys whose text another owns, sorted by bytes.
  template <class T>
  using Dict = std::map<std::string_view, T, std::less<>>;
};

namespace detail {

/// Makes a list without items of any type.
struct NoItems {
  template <class List>
  constexpr operator List() const {  // NOLINT(google-explicit-constructor): for initialisers
    return List();
  }
};

}  // namespace detail

// The initialisers of the members of models. `{}` would do, but g++ 12 crashes on it when a user
// writes braces in braces: it asks whether a defaulted constructor throws before it has made it.

/// What a list of a model holds at first.
inline constexpr detail::NoItems no_items{};
/// The order of a `Dict` of a model, which holds nothing at first.
inline constexpr std::less<> by_key{};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_STORAGE_HPP
