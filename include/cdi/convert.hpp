// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CONVERT_HPP
#define CDI_CONVERT_HPP

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/type.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline void convert_erased(void* from, const Type& from_type, void* to, const Type& to_type);

/// Makes the items of a list or optional those of another.
inline void convert_items(void* from, const Type& from_type, void* to, const Type& to_type) {
  const Items items = from_type.items(from);
  if (items.size == 0 && to_type.items(to).size == 0) return;
  const Items made{to_type.make(to, items.size), items.size};
  for (std::size_t i = 0; i < items.size; ++i) {
    detail::convert_erased(nth(items, i, *from_type.item), *from_type.item,
                           nth(made, i, *to_type.item), *to_type.item);
  }
}

/// A dict that gets the entries of another.
struct DictCopy {
  const Type& from_type;
  void* to;
  const Type& to_type;
};

inline bool convert_entry(void* context, std::string_view key, void* value) {
  const auto& [from_type, to, to_type] = *static_cast<const DictCopy*>(context);
  detail::convert_erased(value, *from_type.item, to_type.insert(to, key), *to_type.item);
  return true;
}

/// Makes the members of an object those of another.
inline void convert_members(void* from, const Type& from_type, void* to, const Type& to_type) {
  Places froms;
  Places tos;
  from_type.places(from, froms);
  to_type.places(to, tos);
  const std::size_t count = from_type.field_count;
  for (std::size_t i = 0; i < count; ++i) {
    detail::convert_erased(froms[i], *from_type.fields[i].type, tos[i], *to_type.fields[i].type);
  }
  if (from_type.extra == nullptr || to_type.extra == nullptr) return;
  detail::convert_items(froms[count], *from_type.extra, tos[count], *to_type.extra);
}

/// Makes a value that of another, of a type that differs in its storage alone. What it held is
/// lost.
inline void convert_erased(void* from, const Type& from_type, void* to, const Type& to_type) {
  switch (from_type.shape) {
    case Shape::boolean: *static_cast<bool*>(to) = *static_cast<const bool*>(from); return;
    case Shape::integer: return store_integer(to, to_type, load_integer(from, from_type));
    case Shape::text: return to_type.set_text(to, from_type.text(from));
    case Shape::list:
    case Shape::optional: return detail::convert_items(from, from_type, to, to_type);
    case Shape::dict: {
      if (to_type.items(to).size != 0) to_type.make(to, 0);
      DictCopy copy{from_type, to, to_type};
      from_type.each(from, &copy, convert_entry);
      return;
    }
    case Shape::value:
    case Shape::member:
    case Shape::object: return detail::convert_members(from, from_type, to, to_type);
  }
}

/// Whether two types differ in their storage alone, as far as one looks `depth` levels deep.
constexpr bool is_same_model(const Type& a, const Type& b, int depth = 6) {
  if (a.shape != b.shape || a.field_count != b.field_count) return false;
  if (depth == 0 || a.shape == Shape::value) return true;
  // Not `a.item != nullptr`: with its undefined sanitizer, g++ 12 takes that for no constant.
  const bool holds = a.shape == Shape::list || a.shape == Shape::dict || a.shape == Shape::optional;
  if (holds && !is_same_model(*a.item, *b.item, depth - 1)) return false;
  for (std::size_t i = 0; i < a.field_count; ++i) {
    if (!is_same_model(*a.fields[i].type, *b.fields[i].type, depth - 1)) return false;
  }
  return true;
}

/// Makes `to` what `from` is, in another storage or the same. What it held is lost.
template <class From, class To>
void convert_value(const From& from, To& to) {
  if constexpr (std::is_assignable_v<To&, const From&>) {
    to = from;
  } else {
    static_assert(is_same_model(type_of<From>, type_of<To>),
                  "cdi: only a model of the same fields in another storage can be converted");
    detail::convert_erased(to_look_at(&from), type_of<From>, &to, type_of<To>);
  }
}

}  // namespace detail

/// The same model in another storage: `convert<Spec>(view)` copies the text, `convert<SpecView>(s)`
/// points into `s`, which must outlive the view. Costs one pass over the model. Both types have the
/// same fields in the same order.
template <Described To, Described From>
To convert(const From& from) {
  To to{};
  detail::convert_value(from, to);
  return to;
}

/// Not there: a view of a model that is about to go would point nowhere.
template <Described To, Described From>
  requires(detail::is_borrowed<To> && !detail::is_borrowed<From>)
To convert(const From&&)
= delete;

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_CONVERT_HPP
