// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_READ_HPP
#define CDI_READ_HPP

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/result.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// A scalar taken as a whole number, of 64 bits and a sign.
struct Integer {
  enum class State : std::uint8_t { whole, too_large, none } state = State::none;
  bool negative = false;
  std::uint64_t magnitude = 0;

  /// The number as a `T`, if it is one and in the range of `T`.
  template <std::integral T>
  std::optional<T> as() const {
    if (state != State::whole) return std::nullopt;
    if (!negative || magnitude == 0) {
      return std::in_range<T>(magnitude) ? std::optional{static_cast<T>(magnitude)} : std::nullopt;
    }
    // Without a negation: the least number has no positive counterpart.
    const std::uint64_t below = magnitude - 1;
    if (!std::in_range<std::int64_t>(below)) return std::nullopt;
    const std::int64_t value = -1 - static_cast<std::int64_t>(below);
    return std::in_range<T>(value) ? std::optional{static_cast<T>(value)} : std::nullopt;
  }
};

/// Takes the mark of the base off: 0x1A4, 0b101, 0o644, and 0644 as YAML 1.1 has it. With a digit 8
/// or 9 a number is decimal, as it is to the Go reference.
inline int take_base(std::string& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char mark = ascii_lower(digits[1]);
  if (mark == 'x' || mark == 'b' || mark == 'o') {
    digits.erase(0, 2);
    return mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
  }
  return digits.find_first_not_of("01234567") == std::string::npos ? 8 : 10;
}

/// Turns 240.0 and 1e2 into 240 and 100; false when it is no number, or has a fraction.
inline bool take_point_and_exponent(std::string& digits) {
  std::int64_t exponent = 0;
  if (const auto e = digits.find_first_of("eE"); e != std::string::npos) {
    const char* first = digits.data() + e + 1;
    const char* const last = digits.data() + digits.size();
    if (first != last && *first == '+' && first + 1 != last && first[1] != '-') ++first;
    const auto [stop, failed] = std::from_chars(first, last, exponent);
    if (failed == std::errc::invalid_argument || stop != last) return false;
    constexpr std::int64_t most = 1'000'000'000;  // far beyond the length of any text
    if (failed != std::errc{}) exponent = *first == '-' ? -most : most;
    exponent = std::clamp(exponent, -most, most);
    digits.erase(e);
  }
  if (const auto point = digits.find('.'); point != std::string::npos) {
    if (digits.size() == 1) return false;
    exponent -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  if (digits.find_first_not_of('0') == std::string::npos) {
    digits = "0";
    return true;
  }
  for (; exponent < 0; ++exponent) {
    if (digits.back() != '0') return false;
    digits.pop_back();
  }
  digits.append(static_cast<std::size_t>(std::min<std::int64_t>(exponent, 40)),
                '0');  // 40: too large anyway
  return true;
}

/// Reads a whole number as JSON, YAML 1.1 and YAML 1.2 write it; YAML 1.1 has underscores too.
inline Integer parse_integer(std::string_view text) {
  if (text.starts_with('_')) return {};
  std::string digits{text};
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);

  const int base = detail::take_base(digits);
  if (base == 10 && !detail::take_point_and_exponent(digits)) return {};
  Integer number{.negative = negative};
  const char* const last = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), last, number.magnitude, base);
  if (digits.empty() || stop != last) return {};
  number.state = failed == std::errc{} ? Integer::State::whole : Integer::State::too_large;
  return number;
}

/// The words of YAML 1.1, of which JSON has `true` and `false`.
inline std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    if (text == word) return true;
  }
  for (const std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

/// Whether a text was meant as a number, for messages: without quotes it is told from a text.
inline bool looks_like_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// What a value is, for messages: `a list`, `"abc"`, `12`.
inline std::string name_value(const Document::Value& value) {
  switch (value.kind()) {
    case Document::Kind::null: return "null";
    case Document::Kind::list: return "a list";
    case Document::Kind::map: return "an object";
    case Document::Kind::plain:
      if (detail::looks_like_number(value.text()) || detail::parse_boolean(value.text())) {
        return detail::escaped(value.text());
      }
      break;
    case Document::Kind::quoted: break;
  }
  return detail::quoted(value.text());
}

inline bool fail(Error& why, const Document::Value& at, std::string message) {
  why.code = Errc::schema;
  why.message = std::move(message);
  why.position = at.position();
  return false;
}

/// `hint`: what to write instead, where that can be told.
inline bool expected(Error& why, const Document::Value& at, std::string_view what,
                     std::string_view hint = {}) {
  std::string message = "expected ";
  message.append(what).append(", not ").append(name_value(at)).append(hint);
  return detail::fail(why, at, std::move(message));
}

/// What to write for a text that was meant as a number.
template <std::integral T>
std::string integer_hint(const Document::Value& value) {
  if (value.kind() != Document::Kind::quoted) return {};
  const Integer meant = detail::parse_integer(value.text());
  if (!meant.as<T>()) return {};
  return std::string{": write "}
      .append(meant.negative ? "-" : "")
      .append(std::to_string(meant.magnitude))
      .append(" without quotes");
}

/// The kind of a scalar that is not null, by how JSON writes it.
inline ValueKind scalar_kind(const Document::Value& value) {
  if (value.kind() == Document::Kind::quoted) return ValueKind::text;
  if (is_json_number(value.text())) return ValueKind::number;
  const bool truth = value.text() == "true" || value.text() == "false";
  return truth ? ValueKind::boolean : ValueKind::text;
}

/// What a text may be written as.
enum class TextAs : bool {
  any_scalar,  // the Go reference of CDI reads 1.0 as "1.0"
  text_only,   // that of OCI refuses it
};

/// What the texts of a type may be written as: OCI types are those that keep unknown members.
template <class T>
inline constexpr TextAs text_as = Extensible<T> ? TextAs::text_only : TextAs::any_scalar;

template <TextAs Text, class T>
bool read_value(const Document::Value& value, T& out, Error& why);

/// A field list with the member types erased, so that the loop over it is compiled once.
struct FieldRow {
  std::string_view key;
  Presence when;
  bool ended;           // whether older releases only have the field
  bool null_is_absent;  // Go writes null for a list that it must write and that is empty
  bool (*read)(const Document::Value& value, void* object, Error& why);
};

/// Keeps a member that no row knows.
using KeepMember = void (*)(const Document::Member& member, void* object);

template <class T, std::size_t... I>
constexpr auto make_field_rows(std::index_sequence<I...>) {
  return std::array<FieldRow, sizeof...(I)>{FieldRow{
      std::get<I>(field_list<T>).key,
      std::get<I>(field_list<T>).when,
      std::get<I>(field_list<T>).lifetime.ended(),
      std::get<I>(field_list<T>).when != Presence::required ||
          (Extensible<T> &&
           ListLike<typename std::tuple_element_t<I, decltype(Describe<T>::fields())>::value_type>),
      [](const Document::Value& value, void* object, Error& why) {
        constexpr auto member = std::get<I>(field_list<T>).member;
        return detail::read_value<text_as<T>>(value, static_cast<T*>(object)->*member, why);
      },
  }...};
}

template <class T>
inline constexpr auto field_rows = make_field_rows<T>(
    std::make_index_sequence<std::tuple_size_v<decltype(Describe<T>::fields())>>{});

inline std::string name_fields(std::span<const FieldRow> rows) {
  std::string names;
  for (const auto& row : rows) {
    if (!row.ended) names.append(names.empty() ? "" : ", ").append(row.key);
  }
  return names;
}

inline bool read_rows(const Document::Value& value, std::span<const FieldRow> rows, void* object,
                      KeepMember keep, Error& why) {
  if (value.kind() != Document::Kind::map) return detail::expected(why, value, "an object");
  std::uint64_t seen = 0;
  for (const auto [key, member] : value.members()) {
    std::size_t i = 0;
    while (i < rows.size() && !same_key(rows[i].key, key.text())) ++i;
    if (i == rows.size() && keep != nullptr) {
      keep({key, member}, object);
      continue;
    }
    if (i == rows.size()) {
      detail::fail(why, key, "unknown field; known here: " + detail::name_fields(rows));
      why.add_outer(key.text());
      return false;
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((seen & bit) != 0) {
      detail::fail(why, key, "the field is written twice, in different cases: remove one");
      why.add_outer(key.text());
      return false;
    }
    seen |= bit;
    if (member.is_null() && rows[i].null_is_absent) continue;
    if (!rows[i].read(member, object, why)) {
      why.add_outer(rows[i].key);
      return false;
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].when != Presence::required || (seen >> i & 1) != 0) continue;
    detail::fail(why, value, "the field is missing: add it");
    why.add_outer(rows[i].key);
    return false;
  }
  return true;
}

template <class S>
void read_any(const Document::Value& value, BasicValue<S>& out);

/// Appends a member to a list of members.
template <class Members>
void read_member(const Document::Member& member, Members& out) {
  auto& kept = out.emplace_back();
  kept.key = member.key.text();
  detail::read_any(member.value, kept.value);
}

/// Reads a value of any shape.
template <class S>
void read_any(const Document::Value& value, BasicValue<S>& out) {
  using Kind = ValueKind;
  out.text = value.text();
  switch (value.kind()) {
    case Document::Kind::null: out.kind = Kind::null; break;
    case Document::Kind::quoted:
    case Document::Kind::plain: out.kind = detail::scalar_kind(value); break;
    case Document::Kind::list:
      out.kind = Kind::list;
      for (const auto item : value.items())
        detail::read_any(item, out.members.emplace_back().value);
      break;
    case Document::Kind::map:
      out.kind = Kind::map;
      for (const auto member : value.members()) detail::read_member(member, out.members);
      break;
  }
}

template <class T>
constexpr KeepMember find_keep_member() {
  if constexpr (Extensible<T>) {
    return [](const Document::Member& member, void* object) {
      detail::read_member(member, static_cast<T*>(object)->extra);
    };
  } else {
    return nullptr;
  }
}

template <class T>
inline constexpr KeepMember keep_member = find_keep_member<T>();

template <TextAs Text, ListLike T>
bool read_list(const Document::Value& value, T& out, Error& why) {
  if (value.kind() != Document::Kind::list) {
    std::string hint;
    constexpr std::size_t longest = 40;  // what is longer was not meant as an item
    constexpr bool scalars =
        TextLike<typename T::value_type> || std::integral<typename T::value_type>;
    if (scalars && value.is_scalar() && value.text().size() <= longest) {
      hint = ": write [" + name_value(value) + "]";
    }
    return detail::expected(why, value, "a list", hint);
  }
  out.reserve(value.size());
  for (const auto item : value.items()) {
    if (detail::read_value<Text>(item, out.emplace_back(), why)) continue;
    why.add_outer(detail::item_path("", out.size() - 1));
    return false;
  }
  return true;
}

template <TextAs Text, DictLike T>
bool read_dict(const Document::Value& value, T& out, Error& why) {
  if (value.kind() != Document::Kind::map) return detail::expected(why, value, "an object");
  for (const auto [key, member] : value.members()) {
    auto& item = out[typename T::key_type{key.text()}];
    if (member.is_null() || detail::read_value<Text>(member, item, why)) continue;
    why.add_outer(key.text());
    return false;
  }
  return true;
}

template <std::integral T>
bool read_integer(const Document::Value& value, T& out, Error& why) {
  const Integer number =
      value.kind() == Document::Kind::plain ? detail::parse_integer(value.text()) : Integer{};
  if (number.state == Integer::State::none) {
    return detail::expected(why, value, "a whole number", integer_hint<T>(value));
  }
  const auto fitting = number.as<T>();
  if (!fitting) {
    std::string range = "a number from ";
    range.append(std::to_string(std::numeric_limits<T>::min())).append(" to ");
    return detail::expected(why, value,
                            range.append(std::to_string(std::numeric_limits<T>::max())));
  }
  out = *fitting;
  return true;
}

template <TextAs Text, TextLike T>
bool read_as_text(const Document::Value& value, T& out, Error& why) {
  if (!value.is_scalar()) {
    const bool pair = value.kind() == Document::Kind::map && value.size() == 1;
    return detail::expected(why, value, "text", pair ? R"(: put text with ": " into quotes)" : "");
  }
  if (Text == TextAs::text_only && detail::scalar_kind(value) != ValueKind::text) {
    return detail::expected(why, value, "text", ": put it into quotes");
  }
  out = value.text();
  return true;
}

template <TextAs Text, class T>
bool read_value(const Document::Value& value, T& out, Error& why) {
  if constexpr (OptionalLike<T>) {
    return value.is_null() || detail::read_value<Text>(value, out.emplace(), why);
  } else if constexpr (Described<T>) {
    return detail::read_rows(value, field_rows<T>, &out, keep_member<T>, why);
  } else if constexpr (is_value<T>) {
    detail::read_any(value, out);
    return true;
  } else if constexpr (std::same_as<T, bool>) {
    const auto truth =
        value.kind() == Document::Kind::plain ? detail::parse_boolean(value.text()) : std::nullopt;
    if (!truth) return detail::expected(why, value, "true or false");
    out = *truth;
    return true;
  } else if constexpr (std::integral<T>) {
    return detail::read_integer(value, out, why);
  } else if constexpr (TextLike<T>) {
    return detail::read_as_text<Text>(value, out, why);
  } else if constexpr (DictLike<T>) {
    return detail::read_dict<Text>(value, out, why);
  } else {
    static_assert(ListLike<T>, "cdi: this member type cannot be read from a document");
    return detail::read_list<Text>(value, out, why);
  }
}

}  // namespace detail

/// Reads a described type, refusing unknown, repeated and missing fields and null list items; the
/// error, `Errc::schema`, names path and position. Field names match in any case, as in the Go
/// reference; null means absent. A type with `Borrowed` storage points into the document, which
/// must outlive it. Rules on values are for `validate` to look at. Costs one pass.
///
/// CDI types take any scalar for text, as the Go reference does: 1.0 is "1.0". Types with a member
/// `extra`, which are those of OCI, keep there what they do not know, and refuse numbers, true and
/// false where text is asked for.
template <Described T>
Result<T> read(const Document::Value& value) {
  T out{};
  Error why{};
  if (!detail::read_value<detail::text_as<T>>(value, out, why)) return why;
  return out;
}

/// Reads a described type from the whole of a document.
template <Described T>
Result<T> read(const Document& document) {
  return cdi::read<T>(document.root());
}
/// The same of a document that is about to go, for types that own their text.
template <Described T>
Result<T> read(const Document&& document) requires(!detail::is_borrowed<T>) {
  return cdi::read<T>(document.root());
}
/// Not there: what is read would point into a document that is about to go.
template <Described T>
Result<T> read(const Document&& document) requires detail::is_borrowed<T>
= delete;

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_READ_HPP
