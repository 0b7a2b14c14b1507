// `type_of`: the table of a type, made from its field list at compile time.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_TYPE_OF_HPP
#define CDI_MODEL_TYPE_OF_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cdi/fwd.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/shapes.hpp>
#include <cdi/model/type.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

template <class T>
constexpr Type make_type();

/// The table of a type, made once.
template <class T>
inline constexpr Type type_of = make_type<T>();

/// The table as a function, so that the compiled library can provide it for common models.
template <class T>
const Type& table_of() {
  return type_of<T>;
}

#ifdef CDI_COMPILED
extern template const Type& table_of<Spec>();
extern template const Type& table_of<SpecView>();
extern template const Type& table_of<Device>();
extern template const Type& table_of<DeviceView>();
extern template const Type& table_of<ContainerEdits>();
extern template const Type& table_of<ContainerEditsView>();
extern template const Type& table_of<oci::Spec>();
extern template const Type& table_of<oci::SpecView>();
#endif

template <class T>
void pointers_of_object(void* self, void** out) {
  T& object = *static_cast<T*>(self);
  FieldPointerList<T> list{object, out};
  list_fields<T>(list);
  if constexpr (Extensible<T>) *list.out = &object.extra;
}

template <class T>
concept HoldsAnyMembers = is_any_member<typename T::value_type>;

/// A field list that creates the rows of a table.
struct RowList {
  FieldRow* next;

  template <class Class, class T>
  constexpr void operator()(const char* key, T Class::*, const FieldTraits& traits = {}) {
    static_assert(is_any_value<Class> || !HoldsAnyMembers<T>,
                  "cdi: a field list does not name `extra`; an AnyValue holds any members");
    *next++ = {key, &type_of<T>, traits.when, traits.lifetime};
  }
};

template <class T>
constexpr std::size_t count_fields() {
  CountList list;
  list_fields<T>(list);
  return list.size;
}

template <class T>
constexpr auto make_field_rows() {
  std::array<FieldRow, count_fields<T>()> rows{};
  RowList list{rows.data()};
  list_fields<T>(list);
  return rows;
}

template <class T>
inline constexpr auto field_rows = make_field_rows<T>();

template <class T>
constexpr void fill_object(Type& type) {
  static_assert(count_fields<T>() <= max_fields, "cdi: a described type has 63 fields at most");
  type.shape = is_any_value<T>    ? Shape::any_value
               : is_any_member<T> ? Shape::any_member
                                  : Shape::object;
  type.field_count = static_cast<std::uint8_t>(field_rows<T>.size());
  type.fields = field_rows<T>.data();
  type.pointers = pointers_of_object<T>;
  if constexpr (Extensible<T>) type.extra = &type_of<decltype(T::extra)>;
  type.takes_unknown = Extensible<T> || requires {
    requires T::skips_unknown;
  };
}

template <class T>
constexpr void fill_container(Type& type) {
  if constexpr (Optional<T>) {
    type.shape = Shape::optional;
    type.item = &type_of<typename T::value_type>;
    type.items = items_of_optional<T>;
    type.make = make_optional<T>;
  } else if constexpr (Dict<T>) {
    type.shape = Shape::dict;
    type.item = &type_of<typename T::mapped_type>;
    type.items = items_of_dict<T>;
    type.make = clear_dict<T>;
    type.insert = insert_into_dict<T>;
    type.each = each_of_dict<T>;
  } else {
    static_assert(List<T>, "cdi: a model cannot have members of this type");
    type.shape = Shape::list;
    type.item = &type_of<typename T::value_type>;
    type.items = items_of_list<T>;
    type.make = make_list<T>;
  }
}

template <class T>
constexpr bool has_sign() {
  if constexpr (std::is_enum_v<T>) {
    return std::is_signed_v<std::underlying_type_t<T>>;
  } else {
    return std::is_signed_v<T>;
  }
}

template <class T>
constexpr Type make_type() {
  Type type{.size = sizeof(T)};
  if constexpr (std::same_as<T, bool>) {
    type.shape = Shape::boolean;
  } else if constexpr (std::integral<T> || std::is_enum_v<T>) {
    type.shape = Shape::integer;
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "cdi: integers have 64 bits at most");
    type.has_sign = has_sign<T>();
  } else if constexpr (Text<T>) {
    type.shape = Shape::text;
    type.text = text_of<T>;
    type.set_text = set_text_of<T>;
  } else if constexpr (Object<T>) {
    fill_object<T>(type);
  } else {
    fill_container<T>(type);
  }
  return type;
}

}  // namespace detail

/// Whether a value counts as empty and need not be written: an absent optional, an empty text, list
/// or map, zero, false, or a described type with only empty fields.
template <class T>
bool is_empty(const T& value) {
  return detail::is_empty(&value, detail::table_of<T>());
}

}  // namespace cdi

#endif  // CDI_MODEL_TYPE_OF_HPP
