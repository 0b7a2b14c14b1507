// `Owning` and `Borrowed`: how models hold text, lists and maps.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_STORAGE_HPP
#define CDI_MODEL_STORAGE_HPP

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Where a model keeps its text and elements. A storage defines the type `String` and the templates
/// `List<T>` and `Dict<T>`. The library provides `Owning` and `Borrowed`.
///
/// A `List` can be constructed empty or with a number of items, can be assigned, and provides
/// `data()`, `size()`, `reserve()` and `emplace_back()`, like `std::vector`. A `Dict` is
/// constructed from `std::less<>`, like `std::map`.
template <class S>
concept Storage = std::convertible_to<typename S::String, std::string_view> && requires {
  typename S::template List<int>;
  typename S::template Dict<int>;
};

/// A storage's text type.
template <class S>
using StringOf = typename S::String;
/// A storage's list type.
template <class S, class T>
using ListOf = typename S::template List<T>;
/// A storage's type for values by key.
template <class S, class T>
using DictOf = typename S::template Dict<T>;

/// The storage of models that own their text, such as `Spec` and all other aliases without `Basic`
/// or `View`.
struct Owning {
  using String = std::string;  ///< owned text
  /// A list that owns its elements.
  template <class T>
  using List = std::vector<T>;
  /// Values by owned key, sorted by bytes. Lookup also takes a `std::string_view`.
  template <class T>
  using Dict = std::map<std::string, T, std::less<>>;
};

/// The storage of models whose text points into other text, such as a `Document`, which must
/// outlive the model. Lists and dicts are owned, so creating a model allocates, but copies no text.
/// Aliases that end in `View`, such as `SpecView`, use this storage.
struct Borrowed {
  using String = std::string_view;  ///< text owned elsewhere
  /// A list that owns its elements, but not their text.
  template <class T>
  using List = std::vector<T>;
  /// Values by key, sorted by bytes; the key's text is owned elsewhere.
  template <class T>
  using Dict = std::map<std::string_view, T, std::less<>>;
};

/// Converts to an empty list of any type: see `no_items`.
struct NoItems {
  /// Returns the empty list.
  template <class List>
  constexpr operator List() const {  // implicit, for initialisers
    return List();
  }
};

// Initialisers for members of models. With `{}`, g++ 12 crashes on nested braces in user code: the
// compiler checks a defaulted constructor's `noexcept` before the constructor exists.

/// The initial value of a model's list: no items.
inline constexpr NoItems no_items{};
/// The initial value of a model's `Dict`: no entries, and an order for keys.
inline constexpr std::less<> by_key{};

}  // namespace cdi

#endif  // CDI_MODEL_STORAGE_HPP
