// A constant table of each type's fields, for the functions that walk over models.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_TYPE_HPP
#define CDI_MODEL_TYPE_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <cdi/fwd.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/value.hpp>
#include <cdi/version.hpp>

// What the walks over models need to know of a type, as a constant table: one function then reads,
// writes or converts all types, and a type costs a table and not a set of functions.

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// What a value is in a document, and how it is held here.
enum class Shape : std::uint8_t {
  boolean,   // a bool
  integer,   // of any width, or an enum
  text,      // what reads as a string_view
  list,      // items one after the other
  dict,      // values by text
  optional,  // one value or none
  object,    // a described type
  value,     // a BasicValue: any shape
  member,    // a BasicMember: a key and a value
};

struct Type;

/// A row of a field list.
struct FieldRow {
  std::string_view key{};
  const Type* type = nullptr;
  Presence when = Presence::omit_empty;
  Lifetime lifetime{};
};

/// The items of a list, the value of an optional; of a dict only how many there are.
struct Items {
  void* first = nullptr;
  std::size_t size = 0;
};

/// Is called with the entries of a dict until it says false.
using VisitEntry = bool (*)(void* context, std::string_view key, void* value);

/// The table of a type. What a function takes as `self` is a value of the type; those that only
/// look do not change it. Functions are null where the shape has no use for them.
struct Type {
  Shape shape = Shape::object;
  bool has_sign = false;             // integers
  std::uint8_t field_count = 0;      // objects
  std::size_t size = 0;              // bytes
  const Type* item = nullptr;        // of a list, dict or optional
  const FieldRow* fields = nullptr;  // of an object, value or member, `field_count` of them
  const Type* extra = nullptr;       // of an object that keeps what it does not know

  std::string_view (*text)(const void* self) = nullptr;
  void (*set_text)(void* self, std::string_view text) = nullptr;
  /// Lists, dicts, optionals.
  Items (*items)(void* self) = nullptr;
  /// Makes a list or optional one of so many new items, and a dict, for 0, one without entries.
  void* (*make)(void* self, std::size_t count) = nullptr;
  void* (*insert)(void* self, std::string_view key) = nullptr;  // into a dict: the value there
  bool (*each)(void* self, void* context, VisitEntry visit) = nullptr;  // of a dict
  /// Where the members of an object, value or member are, in the order of its fields, then `extra`.
  void (*places)(void* self, void** out) = nullptr;
};

/// The most fields that a type can have.
inline constexpr std::size_t most_fields = 63;
/// Where the members of an object are: see `Type::places`.
using Places = void * [most_fields + 1];

template <class T>
constexpr Type make_type();

/// The table of a type, made once.
template <class T>
inline constexpr Type type_of = make_type<T>();

/// The same as a function, so that a library can have the tables of the models that everybody uses.
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
concept Text = std::convertible_to<const T&, std::string_view>;

template <class T>
concept Dict = requires {
  typename T::mapped_type;
};

template <class T>
concept List = !Text<T> && !Dict<T> && requires(T v) {
  { v.data() } -> std::convertible_to<void*>;  // items one after the other
  v.emplace_back();
};

template <class T>
concept Optional = requires(T v) {
  v.has_value();
  v.emplace();
};

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
    T made(count);  // and not assigned, which costs more to compile
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

/// Names the members of a type to a field list: those of the library's own values, too.
template <class T>
constexpr void list_fields(auto& list) {
  if constexpr (is_value<T>) {
    list("kind", &T::kind);
    list("text", &T::text);
    list("members", &T::members);
  } else if constexpr (is_member<T>) {
    list("key", &T::key);
    list("value", &T::value);
  } else {
    Describe<T>::fields(list);
  }
}

/// Takes a field list, to tell where the members of an object are. `Class` may be a base of it.
template <class Object>
struct PlaceList {
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

template <class T>
void places_of_object(void* self, void** out) {
  T& object = *static_cast<T*>(self);
  PlaceList<T> list{object, out};
  list_fields<T>(list);
  if constexpr (Extensible<T>) *list.out = &object.extra;
}

/// Takes a field list, to count its fields.
struct CountList {
  std::size_t size = 0;

  constexpr void operator()(const char*, ...) { ++size; }  // a template only where it must be
  template <class Class, class T>
  constexpr void operator()(const char*, T Class::*, const FieldTraits&) {
    ++size;
  }
};

/// Takes a field list, to make the table of it.
struct RowList {
  FieldRow* next;

  template <class Class, class T>
  constexpr void operator()(const char* key, T Class::*, const FieldTraits& traits = {}) {
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
  static_assert(count_fields<T>() <= most_fields, "cdi: a described type has 63 fields at most");
  type.shape = is_value<T> ? Shape::value : is_member<T> ? Shape::member : Shape::object;
  type.field_count = static_cast<std::uint8_t>(field_rows<T>.size());
  type.fields = field_rows<T>.data();
  type.places = places_of_object<T>;
  if constexpr (Extensible<T>) type.extra = &type_of<decltype(T::extra)>;
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
    static_assert(List<T>, "cdi: no document has a member of this type");
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
  } else if constexpr (Described<T> || is_value<T> || is_member<T>) {
    fill_object<T>(type);
  } else {
    fill_container<T>(type);
  }
  return type;
}

template <class T, class... Seen>
constexpr bool borrows();

/// Takes a field list, to find a text that is not its type's own. `Seen` are the types on the way.
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
    return false;  // a type that holds itself says what its other members say
  } else if constexpr (Text<T>) {
    return std::is_trivially_destructible_v<T>;  // as a string_view
  } else if constexpr (Described<T> || is_value<T> || is_member<T>) {
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

/// Whether a type points into text that it does not own: made of what is about to go, it would
/// point nowhere.
template <class T>
inline constexpr bool is_borrowed = borrows<T>();
/// Models say it by their storage.
template <template <class> class Model, Storage S>
inline constexpr bool is_borrowed<Model<S>> = std::is_trivially_destructible_v<StringOf<S>>;

/// A value for the functions of a table that only look, though their type lets them do more.
inline void* to_look_at(const void* self) {
  return const_cast<void*>(self);
}

/// An item of a list, by its index.
inline void* nth(const Items& items, std::size_t index, const Type& item) {
  return static_cast<char*>(items.first) + index * item.size;
}

/// The bits of an integer, its sign extended.
std::uint64_t load_integer(const void* self, const Type& type);

/// Stores the low bits of an integer.
void store_integer(void* self, const Type& type, std::uint64_t bits);

/// Whether a value holds nothing that a document would have to say.
bool is_empty(const void* self, const Type& type);

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

namespace cdi {
inline namespace CDI_ABI {

/// Whether a member holds nothing that a document would have to say: an absent optional, an empty
/// text, list or map, zero, false, or a described type whose fields are all empty.
template <class T>
bool is_empty(const T& value) {
  return detail::is_empty(&value, detail::table_of<T>());
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/impl/type.hpp>
#endif

#endif  // CDI_MODEL_TYPE_HPP
