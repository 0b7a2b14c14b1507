// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VALUE_HPP
#define CDI_VALUE_HPP

#include <cstdint>

#include <cdi/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

template <class S>
struct BasicMember;

/// A JSON value of any shape: what stands in a document where the library knows no type for it.
template <class S>
struct BasicValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, map };

  Kind kind = Kind::null;
  StringOf<S> text{};  // a boolean or number as it was written, `1e3` say; the text of a text
  ListOf<S, BasicMember<S>> members{};  // of a map, in the order written; of a list, without keys

  bool empty() const { return kind == Kind::null; }

  friend bool operator==(const BasicValue&, const BasicValue&) = default;
};

/// A key and its value.
template <class S>
struct BasicMember {
  StringOf<S> key{};
  BasicValue<S> value{};

  friend bool operator==(const BasicMember&, const BasicMember&) = default;
};

using Value = BasicValue<Owning>;
using Member = BasicMember<Owning>;

/// The members of an object that its type does not know, in the order written. A described type
/// with a member `extra` of this type keeps them; one without refuses them.
template <class S>
using ExtraOf = ListOf<S, BasicMember<S>>;

namespace detail {

template <class T>
inline constexpr bool is_value = false;
template <class S>
inline constexpr bool is_value<BasicValue<S>> = true;

template <class T>
inline constexpr bool is_member = false;
template <class S>
inline constexpr bool is_member<BasicMember<S>> = true;

}  // namespace detail

/// A type that keeps the members it does not know.
template <class T>
concept Extensible = requires(T value) {
  requires detail::is_member<typename decltype(value.extra)::value_type>;
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_VALUE_HPP
