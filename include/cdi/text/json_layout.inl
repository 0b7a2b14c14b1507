// The bodies of <cdi/text/json_layout.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_JSON_LAYOUT_INL
#define CDI_TEXT_JSON_LAYOUT_INL

#include <optional>

#include <cdi/text/json_layout.hpp>

namespace cdi::inline CDI_ABI::detail {

inline constexpr std::string_view json_blanks = " \t\r\n";

/// The place just past the closing quote of the string that begins at a place.
inline std::size_t end_of_json_string(std::string_view text, std::size_t at) {
  while (true) {
    at = text.find('"', at + 1);
    std::size_t escapes = 0;
    while (text[at - escapes - 1] == '\\') ++escapes;
    if (escapes % 2 == 0) return at + 1;
  }
}

CDI_INLINE JsonLayout::JsonLayout(const Document& document) : document_{document} {
  constexpr std::size_t max = 16;  // columns; anything wider is not indentation
  for (const auto [key, value] : document.root().members()) {
    const auto blanks = blanks_in(document.root());
    const auto indentation = blanks.substr(blanks.rfind('\n') + 1);
    if (detail::has_lines(blanks) && indentation.size() <= max) unit_ = indentation;
    is_spaced_ = document.source()[value.offset() - 1] == ' ';
    return;
  }
}

/// The last item or member of a value, if any.
inline std::optional<Document::Value> last_child(const Document::Value& value) {
  std::optional<Document::Value> last;
  for (const auto item : value.items()) last = item;
  for (const auto [key, member] : value.members()) last = member;
  return last;
}

CDI_INLINE std::size_t JsonLayout::end_of(const Document::Value& value) const {
  Document::Value inner = value;  // the innermost last child so far
  std::size_t open = 0;           // brackets around `inner`; no recursion: the text may be deep
  while (auto last = detail::last_child(inner)) {
    inner = *last;
    ++open;
  }
  std::size_t end = end_of_childless(inner);
  for (; open > 0; --open) end = document_.source().find_first_not_of(json_blanks, end) + 1;
  return end;
}

CDI_INLINE std::size_t JsonLayout::end_of_childless(const Document::Value& value) const {
  switch (value.kind()) {
    case Document::Kind::null: return value.offset() + std::string_view{"null"}.size();
    case Document::Kind::plain: return value.offset() + value.text().size();
    case Document::Kind::quoted:
      return detail::end_of_json_string(document_.source(), value.offset());
    case Document::Kind::list:
    case Document::Kind::map: break;
  }
  return children_of(value).end + 1;
}

CDI_INLINE auto JsonLayout::children_of(const Document::Value& value) const -> Extent {
  const auto begin = value.offset() + 1 + blanks_in(value).size();
  const auto last = detail::last_child(value);
  return {begin, last ? end_of(*last) : begin};
}

CDI_INLINE std::string_view JsonLayout::blanks_in(const Document::Value& value) const {
  const auto rest = document_.source().substr(value.offset() + 1);
  return rest.substr(0, rest.find_first_not_of(json_blanks));
}

CDI_INLINE std::string JsonLayout::lead(const Document::Value& value,
                                        std::string_view outer) const {
  constexpr std::size_t max = 64;  // in bytes; each new line repeats the blanks
  const auto blanks = blanks_in(value);
  if (value.size() == 0) return lead(outer);
  if (blanks.size() <= max) return std::string{blanks};
  return detail::has_lines(blanks) ? lead(outer.empty() ? "\n" : outer) : std::string{};
}

CDI_INLINE std::string JsonLayout::lead(std::string_view outer) const {
  std::string blanks;
  if (detail::has_lines(outer)) blanks.append(outer).append(unit_);
  return blanks;
}

CDI_INLINE void JsonLayout::append_comma(std::string& out, std::string_view lead) const {
  out.push_back(',');
  if (detail::has_lines(lead)) {
    out.append(lead);
  } else if (is_spaced_) {
    out.push_back(' ');
  }
}

}  // namespace cdi::detail

#endif  // CDI_TEXT_JSON_LAYOUT_INL
