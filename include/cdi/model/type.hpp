// The table of a type, by which one function walks over the values of all types.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_TYPE_HPP
#define CDI_MODEL_TYPE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

// One function reads, writes or copies values of all types by their tables. A type therefore
// costs a constant table, and not a set of functions.

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// What a value is in a document, and what holds it in a model.
enum class Shape : std::uint8_t {
  boolean,     // a bool
  integer,     // of any width, or an enum
  text,        // anything that converts to a string_view
  list,        // items in contiguous memory
  dict,        // values by text
  optional,    // one value or none
  object,      // a described type
  any_value,   // a BasicAnyValue
  any_member,  // a BasicAnyMember: a key and a value
};

struct Type;

/// A row of a field list.
struct FieldRow {
  std::string_view key{};
  const Type* type = nullptr;
  Presence when = Presence::omit_empty;
  Lifetime lifetime{};
};

/// The items of a list, or the value of an optional. Of a dict, only the number of entries.
struct Items {
  void* first = nullptr;
  std::size_t size = 0;
};

/// A function for the entries of a dict, which is called until it returns false.
using VisitEntry = bool (*)(void* context, std::string_view key, void* value);

/// The table of a type. `self` is a value of the type; only `set_text`, `make` and `insert` change
/// it. Functions are null where the shape has no use for them.
struct Type {
  Shape shape = Shape::object;
  bool has_sign = false;             // integers
  std::uint8_t field_count = 0;      // objects
  std::size_t size = 0;              // bytes
  const Type* item = nullptr;        // of a list, dict or optional
  const FieldRow* fields = nullptr;  // of an object, value or member, `field_count` of them
  const Type* extra = nullptr;       // of an object that keeps unknown members

  std::string_view (*text)(const void* self) = nullptr;
  void (*set_text)(void* self, std::string_view text) = nullptr;
  Items (*items)(void* self) = nullptr;  // of a list, dict or optional
  /// Replaces the items of a list or optional by `count` new ones; a dict is emptied, `count` is 0.
  /// Returns the first item.
  void* (*make)(void* self, std::size_t count) = nullptr;
  void* (*insert)(void* self, std::string_view key) = nullptr;  // into a dict; gives the value
  bool (*each)(void* self, void* context, VisitEntry visit) = nullptr;  // of a dict
  /// Gives the places of the members of an object, value or member, in the order of its fields,
  /// then of `extra`.
  void (*places)(void* self, void** out) = nullptr;
};

/// The most fields that a type can have.
inline constexpr std::size_t most_fields = 63;
/// The places of the members of an object: see `Type::places`.
using Places = void * [most_fields + 1];

/// A value for the functions of a table that do not change it.
inline void* as_mutable(const void* self) {
  return const_cast<void*>(self);
}

/// The item of a list with an index.
inline void* nth(const Items& items, std::size_t index, const Type& item) {
  return static_cast<char*>(items.first) + index * item.size;
}

/// The bits of an integer, its sign extended.
std::uint64_t load_integer(const void* self, const Type& type);

/// Stores the low bits of an integer.
void store_integer(void* self, const Type& type, std::uint64_t bits);

/// As `cdi::is_empty`.
bool is_empty(const void* self, const Type& type);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/type.inl>
#endif

#endif  // CDI_MODEL_TYPE_HPP
