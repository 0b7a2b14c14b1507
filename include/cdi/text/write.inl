// The bodies of <cdi/text/write.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_WRITE_INL
#define CDI_TEXT_WRITE_INL

#include <cstddef>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/text/write.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Writes a list of `BasicAnyMember`s; `type` is the type of the list.
inline void write_members(void* list, const Type& type, bool with_keys, ErasedSink& sink) {
  const Type& member = *type.item;
  const Items items = type.items(list);
  for (std::size_t i = 0; i < items.size; ++i) {
    FieldPointers pointers;
    member.pointers(nth(items, i, member), pointers);
    if (with_keys) sink.key(member.fields[0].type->text(pointers[0]));
    detail::write_value(pointers[1], *member.fields[1].type, sink);
  }
}

/// Writes a `BasicAnyValue`.
inline void write_any(void* self, const Type& type, ErasedSink& sink) {
  FieldPointers pointers;
  type.pointers(self, pointers);
  const std::string_view text = type.fields[1].type->text(pointers[1]);
  switch (*static_cast<const ValueKind*>(pointers[0])) {
    case ValueKind::null: return sink.null();
    case ValueKind::boolean: return sink.boolean(text == "true");
    case ValueKind::number: return sink.number(text);
    case ValueKind::text: return sink.text(text);
    case ValueKind::list:
      sink.begin_list();
      detail::write_members(pointers[2], *type.fields[2].type, false, sink);
      return sink.end_list();
    case ValueKind::map: break;
  }
  sink.begin_map();
  detail::write_members(pointers[2], *type.fields[2].type, true, sink);
  sink.end_map();
}

/// Writes a member of an object unless it is empty and may be omitted.
inline void write_field(void* value, const FieldRow& row, ErasedSink& sink) {
  const bool omit_empty = row.when == Presence::omit_empty;
  if (row.type->shape == Shape::text) {  // the most common shape
    const std::string_view text = row.type->text(value);
    if (omit_empty && text.empty()) return;
    sink.key(row.key);
    return sink.text(text);
  }
  if (omit_empty && detail::is_empty(value, *row.type)) return;
  sink.key(row.key);
  detail::write_value(value, *row.type, sink);
}

/// Writes a described type: the fields, then the members of `extra`.
inline void write_object(void* self, const Type& type, ErasedSink& sink) {
  FieldPointers pointers;
  type.pointers(self, pointers);
  sink.begin_map();
  for (std::size_t i = 0; i < type.field_count; ++i) {
    detail::write_field(pointers[i], type.fields[i], sink);
  }
  if (type.extra != nullptr) {
    detail::write_members(pointers[type.field_count], *type.extra, true, sink);
  }
  sink.end_map();
}

inline bool write_entry(void* context, std::string_view key, void* value) {
  const auto& [type, sink] = *static_cast<std::pair<const Type&, ErasedSink&>*>(context);
  sink.key(key);
  detail::write_value(value, type, sink);
  return true;
}

CDI_INLINE void write_value(const void* self, const Type& type, ErasedSink& sink) {
  void* const value = as_mutable(self);
  switch (type.shape) {
    case Shape::boolean: return sink.boolean(*static_cast<const bool*>(self));
    case Shape::integer:
      return type.has_sign ? sink.integer(static_cast<std::int64_t>(load_integer(self, type)))
                           : sink.unsigned_integer(load_integer(self, type));
    case Shape::text: return sink.text(type.text(self));
    case Shape::any_value: return detail::write_any(value, type, sink);
    case Shape::object: return detail::write_object(value, type, sink);
    case Shape::optional: {
      const Items held = type.items(value);
      return held.size == 0 ? sink.null() : detail::write_value(held.first, *type.item, sink);
    }
    case Shape::dict: {
      sink.begin_map();
      std::pair<const Type&, ErasedSink&> context{*type.item, sink};
      type.each(value, &context, write_entry);
      return sink.end_map();
    }
    case Shape::any_member:  // written with the enclosing map or list
    case Shape::list: break;
  }
  sink.begin_list();
  const Items items = type.items(value);
  const Type& item = *type.item;
  for (std::size_t i = 0; i < items.size; ++i) {
    void* const one = nth(items, i, item);
    item.shape == Shape::text ? sink.text(item.text(one)) : detail::write_value(one, item, sink);
  }
  sink.end_list();
}

CDI_INLINE void WriteCheck::text(std::string_view value) {
  if (result && !is_utf8(value)) result = not_utf8(value);
}

CDI_INLINE void WriteCheck::number(std::string_view value) {
  if (!result || is_json_number(value)) return;
  result = Error{.code = Errc::invalid, .message = quoted(value) + " is not a JSON number"};
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_WRITE_INL
