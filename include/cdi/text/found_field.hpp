// Finds the field of a type that has the key of a member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_FOUND_FIELD_HPP
#define CDI_TEXT_FOUND_FIELD_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The field that matches a key.
struct FoundField {
  std::size_t index = 0;  // the field count if no field matches
  bool same_case = true;
};

/// Finds the field of a key, ignoring case. Tries field `next` first.
inline FoundField find_field(const Type& type, std::string_view key, std::size_t next = 0) {
  const std::size_t count = type.field_count;
  std::size_t i = next < count ? next : 0;
  for (std::size_t tried = 0; tried < count; ++tried, i = i + 1 < count ? i + 1 : 0) {
    const std::string_view field = type.fields[i].key;
    if (field.size() != key.size() || ascii_lower(field[0]) != ascii_lower(key[0])) continue;
    if (field == key) return {i};
    if (same_key(field, key)) return {i, false};
  }
  for (const char c : key) {  // a key with U+017F or U+212A is longer than its field
    if (static_cast<unsigned char>(c) < 0x80) continue;
    for (i = 0; i < count && !same_key(type.fields[i].key, key);) ++i;
    return {i, false};
  }
  return {count};
}

/// The keys of the fields that the current version has, for messages.
inline std::string name_fields(const Type& type) {
  std::string names;
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const FieldRow& row = type.fields[i];
    if (!row.lifetime.ended()) names.append(names.empty() ? "" : ", ").append(row.key);
  }
  return names;
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_FOUND_FIELD_HPP
