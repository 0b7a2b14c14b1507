// The bodies of <cdi/model/copy_as.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_COPY_AS_INL
#define CDI_MODEL_COPY_AS_INL

#include <string_view>

#include <cdi/model/copy_as.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Replaces the items of a list or optional with copies of another's items.
inline void copy_items(void* from, const Type& from_type, void* to, const Type& to_type) {
  const Items items = from_type.items(from);
  if (items.size == 0 && to_type.items(to).size == 0) return;
  const Items made{to_type.make(to, items.size), items.size};
  for (std::size_t i = 0; i < items.size; ++i) {
    detail::copy_erased(nth(items, i, *from_type.item), *from_type.item,
                        nth(made, i, *to_type.item), *to_type.item);
  }
}

/// A dict that receives copies of entries.
struct DictCopy {
  const Type& from_type;
  void* to;
  const Type& to_type;
};

inline bool copy_entry(void* context, std::string_view key, void* value) {
  const auto& [from_type, to, to_type] = *static_cast<const DictCopy*>(context);
  detail::copy_erased(value, *from_type.item, to_type.insert(to, key), *to_type.item);
  return true;
}

/// Replaces the members of an object with copies of another's members.
inline void copy_members(void* from, const Type& from_type, void* to, const Type& to_type) {
  FieldPointers froms;
  FieldPointers tos;
  from_type.pointers(from, froms);
  to_type.pointers(to, tos);
  const std::size_t count = from_type.field_count;
  for (std::size_t i = 0; i < count; ++i) {
    detail::copy_erased(froms[i], *from_type.fields[i].type, tos[i], *to_type.fields[i].type);
  }
  if (from_type.extra == nullptr || to_type.extra == nullptr) return;
  detail::copy_items(froms[count], *from_type.extra, tos[count], *to_type.extra);
}

CDI_INLINE void copy_erased(void* from, const Type& from_type, void* to, const Type& to_type) {
  switch (from_type.shape) {
    case Shape::boolean: *static_cast<bool*>(to) = *static_cast<const bool*>(from); return;
    case Shape::integer: return store_integer(to, to_type, load_integer(from, from_type));
    case Shape::text: return to_type.set_text(to, from_type.text(from));
    case Shape::list:
    case Shape::optional: return detail::copy_items(from, from_type, to, to_type);
    case Shape::dict: {
      if (to_type.items(to).size != 0) to_type.make(to, 0);
      DictCopy copy{from_type, to, to_type};
      from_type.each(from, &copy, copy_entry);
      return;
    }
    case Shape::any_value:
    case Shape::any_member:
    case Shape::object: return detail::copy_members(from, from_type, to, to_type);
  }
}

}  // namespace cdi::detail

#endif  // CDI_MODEL_COPY_AS_INL
