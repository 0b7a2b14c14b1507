// The bodies of <cdi/text/read.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_READ_INL
#define CDI_TEXT_READ_INL

#include <cstdint>
#include <string>
#include <utility>

#include <cdi/model/any_value.hpp>
#include <cdi/text/found_field.hpp>
#include <cdi/text/limits.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/text/yaml11_scalar.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Describes a value in messages: `a list`, `"abc"`, `12`.
inline std::string name_value(const Document::Value& value) {
  switch (value.kind()) {
    case Document::Kind::null: return "null";
    case Document::Kind::list: return "a list";
    case Document::Kind::map: return "an object";
    case Document::Kind::plain:
      if (!detail::looks_like_number(value.text()) && !detail::parse_boolean(value.text())) break;
      return cdi::escaped(value.text());
    case Document::Kind::quoted: break;
  }
  return cdi::quoted(value.text());
}

inline bool fail(Reading& reading, const Document::Value& at, std::string message,
                 std::string_view advice = {}) {
  reading.why.code = Errc::schema;
  reading.why.message = std::move(message);
  reading.why.advice = advice;
  reading.why.position = at.position();
  return false;
}

/// Records that `what` was expected; `advice` says what to write instead, if known.
inline bool expected(Reading& reading, const Document::Value& at, std::string_view what,
                     std::string_view advice = {}) {
  std::string message = "expected ";
  message.append(what).append(", not ").append(name_value(at));
  return detail::fail(reading, at, std::move(message), advice);
}

[[gnu::noinline]] inline bool too_much(const Document::Value& at, Reading& reading) {
  detail::fail(reading, at,
               "the value takes too much memory: more than ten times the text's size plus 4 MiB",
               "split the text into several files");
  reading.why.code = Errc::limit;
  return false;
}

/// The number of errors that are kept so far.
inline std::size_t errors_kept(const Reading& reading) {
  return reading.every == nullptr ? 0 : reading.every->size();
}

/// After an error in the member `key`, adds the key to the paths of the errors kept since there
/// were `before`. Returns whether reading goes on.
[[gnu::noinline]] inline bool goes_on(Reading& reading, std::string_view key, std::size_t& before) {
  if (reading.every == nullptr) {
    reading.why.add_outer(key);
    return false;
  }
  auto& errors = *reading.every;
  if (!reading.why.message.empty()) {  // it is from this member, not from within it
    errors.push_back(reading.why);
    reading.why.message.clear();
    reading.why.where.clear();
  }
  for (; before < errors.size(); ++before) errors[before].add_outer(key);
  return reading.why.code != Errc::limit && errors.size() < max_errors;
}

inline constexpr std::size_t bytes_per_block = 16;  // what malloc adds, including rounding

/// Counts items before they are created: otherwise a model with many small items, such as `{}`,
/// would need eighty times the text's size.
inline bool count_items(const Document::Value& at, std::size_t count, std::size_t size,
                        Reading& reading) {
  if (count > reading.bytes_left / size) return detail::too_much(at, reading);
  reading.bytes_left -= count * size;
  reading.bytes_left -= reading.bytes_left < bytes_per_block ? reading.bytes_left : bytes_per_block;
  return true;
}

/// Returns advice for a text that was probably meant as a number.
inline std::string integer_advice(const Document::Value& value, const Type& type) {
  if (value.kind() != Document::Kind::quoted) return {};
  const Integer meant = detail::parse_integer(value.text());
  if (!meant.bits_of(type)) return {};
  const auto digits = std::to_string(meant.magnitude);
  return (meant.negative ? "write -" : "write ") + digits + " without quotes";
}

/// The JSON kind of a scalar other than null.
inline ValueKind scalar_kind(const Document::Value& value) {
  if (value.kind() == Document::Kind::quoted) return ValueKind::text;
  if (is_json_number(value.text())) return ValueKind::number;
  const bool truth = value.text() == "true" || value.text() == "false";
  return truth ? ValueKind::boolean : ValueKind::text;
}

/// Reads a `BasicAnyMember`.
inline void read_member(const Document::Member& member, void* self, const Type& type) {
  FieldPointers pointers;
  type.pointers(self, pointers);
  type.fields[0].type->set_text(pointers[0], member.key.text());
  detail::read_any(member.value, pointers[1], *type.fields[1].type);
}

CDI_INLINE void read_any(const Document::Value& value, void* self, const Type& type) {
  FieldPointers pointers;
  type.pointers(self, pointers);
  auto& kind = *static_cast<ValueKind*>(pointers[0]);
  type.fields[1].type->set_text(pointers[1], value.text());
  const Type& list = *type.fields[2].type;
  const Type& member = *list.item;
  switch (value.kind()) {
    case Document::Kind::null: kind = ValueKind::null; return;
    case Document::Kind::quoted:
    case Document::Kind::plain: kind = detail::scalar_kind(value); return;
    case Document::Kind::list: kind = ValueKind::list; break;
    case Document::Kind::map: kind = ValueKind::map; break;
  }
  Items items{list.make(pointers[2], value.size()), 0};
  if (kind == ValueKind::map) {
    for (const auto entry : value.members()) {
      detail::read_member(entry, nth(items, items.size++, member), member);
    }
    return;
  }
  for (const auto item : value.items()) {
    FieldPointers parts;
    member.pointers(nth(items, items.size++, member), parts);
    detail::read_any(item, parts[1], type);
  }
}

/// Reads a field of any shape, if its values do not take too much memory.
inline bool read_any_field(const Document::Value& value, void* self, const Type& type,
                           Reading& reading) {
  const std::size_t item_size = type.fields[2].type->item->size;
  if (!detail::count_items(value, value.count_all() - 1, item_size, reading)) return false;
  detail::read_any(value, self, type);
  return true;
}

/// Reads the `count` members that have no field into `extra`.
inline void read_unknown(const Document::Value& value, const Type& type, void* extra,
                         std::size_t count) {
  const Type& member = *type.extra->item;
  Items items{type.extra->make(extra, count), 0};
  for (const auto entry : value.members()) {
    if (find_field(type, entry.key.text()).index != type.field_count) continue;
    detail::read_member(entry, nth(items, items.size++, member), member);
  }
}

/// Whether null means absent, even for required OCI lists, since Go writes empty lists as null.
inline bool takes_null(const FieldRow& row, const Type& owner) {
  return row.when != Presence::required || (owner.takes_unknown && row.type->shape == Shape::list);
}

inline bool fail_at_key(const Document::Value& key, std::string message, std::string_view advice,
                        Reading& reading) {
  detail::fail(reading, key, std::move(message), advice);
  reading.why.add_outer(key.text());
  return false;
}

/// Whether all required fields are in `seen`, a bit set of fields.
inline bool check_required(const Document::Value& value, const Type& type, std::uint64_t seen,
                           Reading& reading) {
  bool good = true;
  for (std::size_t i = 0; i < type.field_count; ++i) {
    if (type.fields[i].when != Presence::required || (seen >> i & 1) != 0) continue;
    std::size_t before = errors_kept(reading);
    detail::fail(reading, value, "the required field is missing", "add it");
    if (!goes_on(reading, type.fields[i].key, before)) return false;
    good = false;
  }
  return good;
}

/// Checks that a type accepts a member that has no field.
inline bool check_unknown(const Document::Member& member, const Type& type, Reading& reading) {
  if (!type.takes_unknown) {
    return fail_at_key(member.key, "unknown field", "use one of " + detail::name_fields(type),
                       reading);
  }
  if (type.extra == nullptr) return true;
  const std::size_t values = member.value.count_all() + 1;
  if (detail::count_items(member.key, values, type.extra->item->size, reading)) return true;
  reading.why.add_outer(member.key.text());
  return false;
}

/// Not inlined into `read_object`, since few members are newer than the oldest version.
[[gnu::noinline]] inline void note_version(const Document::Value& key, SpecVersion since,
                                           Reading& reading) {
  if (since <= reading.newest) return;
  reading.newest = since;
  reading.newest_key = key;
}

/// Notes the version that a field needs, and a key in another case than the field's.
inline void note_key(const Document::Value& key, const FieldRow& row, bool same_case,
                     Reading& reading) {
  if (!same_case && !reading.odd_case) {
    reading.odd_case = key;
    reading.field = row.key;
  }
  if (row.lifetime.since != SpecVersion{}) note_version(key, row.lifetime.since, reading);
}

inline bool read_object(const Document::Value& value, void* self, const Type& type,
                        Reading& reading) {
  if (value.kind() != Document::Kind::map) return detail::expected(reading, value, "an object");
  FieldPointers pointers;
  type.pointers(self, pointers);
  std::uint64_t seen = 0;
  std::size_t unknown = 0;
  std::size_t before = errors_kept(reading);
  bool good = true;
  std::size_t next = 0;  // likely the next key's field: most texts follow the field order
  for (const auto [key, member] : value.members()) {
    const auto [i, same_case] = detail::find_field(type, key.text(), next);
    next = i + 1;
    if (i == type.field_count) {
      if (detail::check_unknown({key, member}, type, reading)) {
        unknown += type.extra == nullptr ? 0 : 1;  // others are skipped
        continue;
      }
      good = false;
      if (!goes_on(reading, {}, before)) return false;
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((seen & bit) != 0) {
      good = fail_at_key(key, "the field appears twice, in different cases", "remove one", reading);
      if (!goes_on(reading, {}, before)) return false;
      continue;
    }
    seen |= bit;
    const FieldRow& row = type.fields[i];
    note_key(key, row, same_case, reading);
    if (member.is_null() && takes_null(row, type)) continue;
    if (!detail::read_value(member, pointers[i], *row.type, text_as(type, reading), reading)) {
      if (!goes_on(reading, row.key, before)) return false;
      good = false;
    }
  }
  if (unknown != 0) detail::read_unknown(value, type, pointers[type.field_count], unknown);
  return check_required(value, type, seen, reading) && good;
}

inline bool read_list(const Document::Value& value, void* self, const Type& type, TextAs text,
                      Reading& reading) {
  const Type& item_type = *type.item;
  if (value.kind() != Document::Kind::list) {
    std::string advice;
    constexpr std::size_t longest = 40;  // longer texts are not meant as items
    const bool scalars = item_type.shape == Shape::text || item_type.shape == Shape::integer;
    if (scalars && value.is_scalar() && value.text().size() <= longest) {
      advice = "write [" + name_value(value) + "]";
    }
    return detail::expected(reading, value, "a list", advice);
  }
  if (!detail::count_items(value, value.size(), item_type.size, reading)) return false;
  Items items{type.make(self, value.size()), 0};
  std::size_t before = errors_kept(reading);
  bool good = true;
  for (const auto item : value.items()) {
    void* const place = nth(items, items.size++, item_type);
    if (detail::read_value(item, place, item_type, text, reading)) continue;
    if (!goes_on(reading, detail::item_path("", items.size - 1), before)) return false;
    good = false;
  }
  return good;
}

/// Not inlined into `note_plain_text`, since few texts look like numbers or booleans.
[[gnu::noinline]] inline void note_other_text(const Document::Value& value, Reading& reading) {
  if (!reading.other_in_yaml_1_1 && detail::is_other_text_in_yaml_1_1(value.text())) {
    reading.other_in_yaml_1_1 = value;
  }
}

/// Records an unquoted text that YAML 1.1 reads differently.
inline void note_plain_text(const Document::Value& value, Reading& reading) {
  if (value.kind() == Document::Kind::plain && detail::may_be_other_text(value.text())) {
    detail::note_other_text(value, reading);
  }
}

inline bool read_dict(const Document::Value& value, void* self, const Type& type, TextAs text,
                      Reading& reading) {
  if (value.kind() != Document::Kind::map) return detail::expected(reading, value, "an object");
  constexpr std::size_t node_size = sizeof(std::string) + 4 * sizeof(void*) + bytes_per_block;
  if (!detail::count_items(value, value.size(), node_size + type.item->size, reading)) return false;
  std::size_t before = errors_kept(reading);
  bool good = true;
  for (const auto [key, member] : value.members()) {
    detail::note_plain_text(key, reading);
    void* const place = type.insert(self, key.text());
    if (member.is_null() || detail::read_value(member, place, *type.item, text, reading)) continue;
    if (!goes_on(reading, key.text(), before)) return false;
    good = false;
  }
  return good;
}

inline bool read_integer(const Document::Value& value, void* self, const Type& type,
                         Reading& reading) {
  const Integer number =
      value.kind() == Document::Kind::plain ? detail::parse_integer(value.text()) : Integer{};
  if (number.state == Integer::State::none) {
    return detail::expected(reading, value, "an integer", integer_advice(value, type));
  }
  const auto bits = number.bits_of(type);
  if (!bits) {
    const std::uint64_t greatest = Integer::greatest(type);
    std::string range = "a number from ";
    range.append(type.has_sign ? "-" + std::to_string(greatest + 1) : "0");
    return detail::expected(reading, value, range.append(" to ").append(std::to_string(greatest)));
  }
  store_integer(self, type, *bits);
  return true;
}

/// Not inlined into `read_value`, since few values are booleans.
[[gnu::noinline]] inline bool read_boolean(const Document::Value& value, void* self, TextAs text,
                                           Reading& reading) {
  auto truth = value.is_scalar() ? detail::parse_boolean(value.text()) : std::nullopt;
  if (truth && value.kind() == Document::Kind::quoted) {
    // Since 1.1.1, the Go reference for CDI reads quoted "yes", "on" and "n", but not "true".
    if (text == TextAs::text_only || detail::is_true_or_false(value.text())) truth.reset();
    auto& other = reading.other_in_yaml_1_1;
    if (!other || other->kind() != Document::Kind::quoted) other = value;
  }
  if (!truth) return detail::expected(reading, value, "true or false");
  *static_cast<bool*>(self) = *truth;
  return true;
}

inline bool read_text(const Document::Value& value, void* self, const Type& type, TextAs text,
                      Reading& reading) {
  if (!value.is_scalar()) {
    const bool pair = value.kind() == Document::Kind::map && value.size() == 1;
    return detail::expected(reading, value, "text", pair ? R"(put text with ": " in quotes)" : "");
  }
  if (text == TextAs::text_only && detail::scalar_kind(value) != ValueKind::text) {
    return detail::expected(reading, value, "text", "put it in quotes");
  }
  detail::note_plain_text(value, reading);
  type.set_text(self, value.text());
  return true;
}

CDI_INLINE bool read_value(const Document::Value& value, void* self, const Type& type, TextAs text,
                           Reading& reading) {
  switch (type.shape) {
    case Shape::boolean: return detail::read_boolean(value, self, text, reading);
    case Shape::integer: return detail::read_integer(value, self, type, reading);
    case Shape::text: return detail::read_text(value, self, type, text, reading);
    case Shape::list: return detail::read_list(value, self, type, text, reading);
    case Shape::dict: return detail::read_dict(value, self, type, text, reading);
    case Shape::object: return detail::read_object(value, self, type, reading);
    case Shape::optional:
      return value.is_null() ||
             (detail::count_items(value, 1, type.item->size, reading) &&
              detail::read_value(value, type.make(self, 1), *type.item, text, reading));
    case Shape::any_value:
    case Shape::any_member: break;  // never alone, but with the enclosing map or list
  }
  return detail::read_any_field(value, self, type, reading);
}

CDI_INLINE std::optional<Document::Value> find_member(const Document::Value& map,
                                                      std::string_view name) {
  for (const auto [key, value] : map.members()) {
    if (same_key(key.text(), name)) return value;
  }
  return std::nullopt;
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_READ_INL
