// The rule for all text in a spec: no NUL.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_VALIDATE_TEXTS_HPP
#define CDI_RULES_VALIDATE_TEXTS_HPP

#include <cstddef>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/rules/findings.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

inline void check_text(std::string_view text, const MemberPath& at, Findings& out) {
  if (text.find('\0') == std::string_view::npos) return;
  out.note(Rule::text_nul, at,
           cdi::quoted(text) + " contains a NUL character, at which some runtimes stop reading",
           "remove it");
}

inline void check_texts(const void* self, const Type& type, const MemberPath& at, Findings& out);

/// The arguments that `check_texts` passes on for each entry of a dict.
struct TextEntries {
  const Type& type;
  const MemberPath& at;
  Findings& out;
};

inline bool check_entry(void* context, std::string_view key, void* value) {
  const auto& [type, at, out] = *static_cast<const TextEntries*>(context);
  const MemberPath entry{&at, key};
  check_text(key, entry, out);
  check_texts(value, *type.item, entry, out);
  return !out.stopped();
}

/// Checks the items of a list, or the value of an optional.
inline void check_texts_of_items(void* self, const Type& type, const MemberPath& at,
                                 Findings& out) {
  const Items items = type.items(self);
  for (std::size_t i = 0; i < items.size && !out.stopped(); ++i) {
    const MemberPath item{at.outer, at.key, type.shape == Shape::list ? i : MemberPath::no_index};
    check_texts(nth(items, i, *type.item), *type.item, item, out);
  }
}

inline void check_texts_of_members(void* self, const Type& type, const MemberPath& at,
                                   Findings& out) {
  FieldPointers pointers;
  type.pointers(self, pointers);
  for (std::size_t i = 0; i < type.field_count && !out.stopped(); ++i) {
    const Type& member = *type.fields[i].type;
    if (member.shape == Shape::integer) continue;
    check_texts(pointers[i], member, {&at, type.fields[i].key}, out);
  }
}

/// Checks every text inside a value, including annotations.
inline void check_texts(const void* self, const Type& type, const MemberPath& at, Findings& out) {
  void* const value = as_mutable(self);
  switch (type.shape) {
    case Shape::boolean:
    case Shape::integer: return;
    case Shape::text: return check_text(type.text(self), at, out);
    case Shape::list:
    case Shape::optional: return check_texts_of_items(value, type, at, out);
    case Shape::dict: {
      TextEntries entries{type, at, out};
      type.each(value, &entries, check_entry);
      return;
    }
    case Shape::any_value:
    case Shape::any_member:
    case Shape::object: return check_texts_of_members(value, type, at, out);
  }
}

}  // namespace cdi::detail

#endif  // CDI_RULES_VALIDATE_TEXTS_HPP
