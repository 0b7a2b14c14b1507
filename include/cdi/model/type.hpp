// Type tables: one function can walk over the values of all types.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_TYPE_HPP
#define CDI_MODEL_TYPE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

// A single function reads, writes or copies values of all types by means of their tables. A type
// therefore costs a constant table rather than a set of functions.

namespace cdi::inline CDI_ABI::detail {

/// The shape of a value in a document and of its member in a model.
enum class Shape : std::uint8_t {
  boolean,     // a bool
  integer,     // an integer of any width, or an enum
  text,        // anything that converts to a string_view
  list,        // items in contiguous memory
  dict,        // values by text key
  optional,    // at most one value
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

/// The items of a list, or the value of an optional. For a dict, only the size is set.
struct Items {
  void* first = nullptr;
  std::size_t size = 0;
};

/// A callback for the entries of a dict, called until it returns false.
using VisitEntry = bool (*)(void* context, std::string_view key, void* value);

/// The table of a type. `self` is a value of the type; only `set_text`, `make` and `insert` change
/// it. Functions that do not apply to the shape are null.
struct Type {
  Shape shape = Shape::object;
  bool has_sign = false;             // for integers
  bool takes_unknown = false;        // for objects: keeps or skips members without a field
  std::uint8_t field_count = 0;      // for objects
  std::size_t size = 0;              // in bytes
  const Type* item = nullptr;        // for a list, dict or optional
  const FieldRow* fields = nullptr;  // for an object, value or member; `field_count` entries
  const Type* extra = nullptr;       // for an object that keeps unknown members

  std::string_view (*text)(const void* self) = nullptr;
  void (*set_text)(void* self, std::string_view text) = nullptr;
  Items (*items)(void* self) = nullptr;  // for a list, dict or optional
  /// Replaces the items of a list or optional with `count` new items and returns the first; a dict
  /// is cleared, and `count` must be 0.
  void* (*make)(void* self, std::size_t count) = nullptr;
  void* (*insert)(void* self, std::string_view key) = nullptr;          // adds a key to a dict
  bool (*each)(void* self, void* context, VisitEntry visit) = nullptr;  // for a dict
  /// Writes the addresses of the members of an object, value or member to `out`, in field order,
  /// followed by the address of `extra`.
  void (*pointers)(void* self, void** out) = nullptr;
};

/// The maximum number of fields in a type.
inline constexpr std::size_t max_fields = 63;
/// The addresses of an object's members: see `Type::pointers`.
using FieldPointers = void * [max_fields + 1];

/// Casts away `const`, for table functions that do not change the value.
inline void* as_mutable(const void* self) {
  return const_cast<void*>(self);
}

/// Returns a list item by index.
inline void* nth(const Items& items, std::size_t index, const Type& item) {
  return static_cast<char*>(items.first) + index * item.size;
}

/// Returns an integer's bits, sign-extended.
std::uint64_t load_integer(const void* self, const Type& type);

/// Stores the low bits of an integer.
void store_integer(void* self, const Type& type, std::uint64_t bits);

/// Whether a value is empty, as defined by `cdi::is_empty`.
bool is_empty(const void* self, const Type& type);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/model/type.inl>
#endif

#endif  // CDI_MODEL_TYPE_HPP
