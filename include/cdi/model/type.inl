// The bodies of <cdi/model/type.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_TYPE_INL
#define CDI_MODEL_TYPE_INL

#include <cstring>

#include <cdi/model/any_value.hpp>
#include <cdi/model/type.hpp>

namespace cdi::inline CDI_ABI::detail {

template <class T>
std::uint64_t load_as(const void* self) {
  T value;
  std::memcpy(&value, self, sizeof value);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

CDI_INLINE std::uint64_t load_integer(const void* self, const Type& type) {
  switch (type.size) {
    case 1: return type.has_sign ? load_as<std::int8_t>(self) : load_as<std::uint8_t>(self);
    case 2: return type.has_sign ? load_as<std::int16_t>(self) : load_as<std::uint16_t>(self);
    case 4: return type.has_sign ? load_as<std::int32_t>(self) : load_as<std::uint32_t>(self);
    default: return load_as<std::uint64_t>(self);
  }
}

template <class T>
void store_as(void* self, std::uint64_t bits) {
  const auto value = static_cast<T>(bits);
  std::memcpy(self, &value, sizeof value);
}

CDI_INLINE void store_integer(void* self, const Type& type, std::uint64_t bits) {
  switch (type.size) {
    case 1: return store_as<std::uint8_t>(self, bits);
    case 2: return store_as<std::uint16_t>(self, bits);
    case 4: return store_as<std::uint32_t>(self, bits);
    default: return store_as<std::uint64_t>(self, bits);
  }
}

CDI_INLINE bool is_empty(const void* self, const Type& type) {
  void* const value = as_mutable(self);
  switch (type.shape) {
    case Shape::boolean: return !*static_cast<const bool*>(self);
    case Shape::integer: {
      const auto* const bytes = static_cast<const char*>(self);
      for (std::size_t i = 0; i < type.size; ++i) {
        if (bytes[i] != 0) return false;
      }
      return true;
    }
    case Shape::text: return type.text(self).empty();
    case Shape::list:
    case Shape::dict:
    case Shape::optional: return type.items(value).size == 0;
    case Shape::any_value:
    case Shape::any_member:
    case Shape::object: break;
  }
  FieldPointers pointers;
  type.pointers(value, pointers);
  if (type.shape == Shape::any_value)
    return *static_cast<ValueKind*>(pointers[0]) == ValueKind::null;
  for (std::size_t i = 0; i < type.field_count; ++i) {
    if (!is_empty(pointers[i], *type.fields[i].type)) return false;
  }
  return type.extra == nullptr || is_empty(pointers[type.field_count], *type.extra);
}

}  // namespace cdi::detail

#endif  // CDI_MODEL_TYPE_INL
