// `Owning` and `Borrowed`: how models hold text, lists and maps.
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

/// Where a model keeps its text and elements. A storage has a type and two templates: `String`,
/// `List<T>` and `Dict<T>`. The library has `Owning` and `Borrowed`.
///
/// A list can be made without items or with a number of them, can be assigned, and has `data()`,
/// `size()`, `reserve()` and `emplace_back()`, like `std::vector`; a `Dict` is made from
/// `std::less<>`, like `std::map`.
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
/// The type of a storage for values by key.
template <class S, class T>
using DictOf = typename S::template Dict<T>;

/// The storage of models that own their text. The aliases of models without `Basic`, such as
/// `Spec`, have it.
struct Owning {
  using String = std::string;  ///< text that it owns
  /// A list that owns its elements.
  template <class T>
  using List = std::vector<T>;
  /// Values by keys, which it owns; sorted by bytes. Also `std::string_view` finds a key.
  template <class T>
  using Dict = std::map<std::string, T, std::less<>>;
};

/// The storage of models whose text points into other text, such as a `Document`, which must
/// outlive them. They own their lists and dicts, so making one allocates, but copies no text. The
/// aliases of models that end in `View`, such as `SpecView`, have it.
struct Borrowed {
  using String = std::string_view;  ///< text that it does not own
  /// A list that owns its elements, but not their text.
  template <class T>
  using List = std::vector<T>;
  /// Values by keys, whose text it does not own; sorted by bytes.
  template <class T>
  using Dict = std::map<std::string_view, T, std::less<>>;
};

/// Converts to an empty list of any type: see `no_items`.
struct NoItems {
  /// The empty list.
  template <class List>
  constexpr operator List() const {  // for initialisers
    return List();
  }
};

// The initialisers of the members of models. With `{}`, g++ 12 crashes when a user writes braces in
// braces: it checks whether a defaulted constructor throws before it has made it.

/// The initial value of a list of a model: empty.
inline constexpr NoItems no_items{};
/// The initial value of a `Dict` of a model: its order, without entries.
inline constexpr std::less<> by_key{};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_STORAGE_HPP
