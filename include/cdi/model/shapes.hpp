// The shapes that a model's members may have, and access to values of each shape.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_SHAPES_HPP
#define CDI_MODEL_SHAPES_HPP

#include <concepts>
#include <cstddef>
#include <string_view>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A text: anything that converts to a `std::string_view`.
template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;

/// A map from text to values, such as a `std::map`.
template <class T>
concept Dict = requires {
  typename T::mapped_type;
};

/// Items stored contiguously, such as a `std::vector`.
template <class T>
concept List = !Text<T> && !Dict<T> && requires(T v) {
  { v.data() } -> std::convertible_to<void*>;
  v.emplace_back();
};

/// At most one value, such as a `std::optional`.
template <class T>
concept Optional = requires(T v) {
  v.has_value();
  v.emplace();
};

/// A type with fields: a described type, a `BasicAnyValue` or a `BasicAnyMember`.
template <class T>
concept Object = Described<T> || is_any_value<T> || is_any_member<T>;

/// Passes the members of an object to a field list.
template <class T>
constexpr void list_fields(auto& list) {
  if constexpr (is_any_value<T>) {
    list("kind", &T::kind);
    list("text", &T::text);
    list("members", &T::members);
  } else if constexpr (is_any_member<T>) {
    list("key", &T::key);
    list("value", &T::value);
  } else {
    Describe<T>::fields(list);
  }
}

// Implementations of the functions in `Type`, for each shape.

template <class T>
std::string_view text_of(const void* self) {
  return *static_cast<const T*>(self);
}
template <class T>
void set_text_of(void* self, std::string_view text) {
  *static_cast<T*>(self) = text;
}

template <class T>
Items items_of_list(void* self) {
  auto& list = *static_cast<T*>(self);
  return {list.data(), list.size()};
}
template <class T>
void* make_list(void* self, std::size_t count) {
  auto& list = *static_cast<T*>(self);
  if constexpr (requires { requires T::allocator_type::is_always_equal::value; }) {
    T made(count);  // an assignment would cost more to compile
    list.swap(made);
  } else {
    list = T(count);
  }
  return list.data();
}

template <class T>
Items items_of_optional(void* self) {
  auto& optional = *static_cast<T*>(self);
  return optional.has_value() ? Items{&*optional, 1} : Items{};
}
template <class T>
void* make_optional(void* self, std::size_t count) {
  auto& optional = *static_cast<T*>(self);
  if (count != 0) return &optional.emplace();
  optional.reset();
  return nullptr;
}

template <class T>
Items items_of_dict(void* self) {
  return {nullptr, static_cast<T*>(self)->size()};
}
template <class T>
void* clear_dict(void* self, std::size_t) {
  static_cast<T*>(self)->clear();
  return nullptr;
}
template <class T>
void* insert_into_dict(void* self, std::string_view key) {
  return &(*static_cast<T*>(self))[typename T::key_type{key}];
}
template <class T>
bool each_of_dict(void* self, void* context, VisitEntry visit) {
  for (auto& [key, value] : *static_cast<T*>(self)) {
    if (!visit(context, key, &value)) return false;
  }
  return true;
}

}  // namespace cdi::detail

#endif  // CDI_MODEL_SHAPES_HPP
