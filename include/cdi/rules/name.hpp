// Qualified device names such as `vendor.com/class=device`: parsed and checked.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_NAME_HPP
#define CDI_RULES_NAME_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A fully qualified device name, `vendor.com/class=device`, seen as its three parts.
///
/// Points into the text it was parsed from, which must outlive it. SPEC.md, Kind and CDI Devices.
struct QualifiedName {
  std::string_view vendor{};        ///< before the slash: `vendor.com`
  std::string_view device_class{};  ///< between slash and `=`; `class` is a keyword
  std::string_view device{};        ///< after the `=`; empty for a kind

  friend bool operator==(const QualifiedName&, const QualifiedName&) = default;
};

namespace detail {

constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_alphanumeric(char c) noexcept {
  return is_letter(c) || is_digit(c);
}

/// Sets of characters, a bit for each.
using CharSet = std::uint8_t;
inline constexpr CharSet letters = 1;
inline constexpr CharSet alphanumerics = 3;
inline constexpr std::string_view inner_chars = "-_.:";  // the bits 4 to 32

/// The sets that a character is in.
struct CharTable {
  CharSet sets[256]{};

  constexpr CharTable() noexcept {
    for (unsigned c = '0'; c <= 'z'; ++c) {
      const char one = static_cast<char>(c);
      if (is_alphanumeric(one)) sets[c] = is_letter(one) ? 1 : 2;
    }
    for (std::size_t i = 0; i < inner_chars.size(); ++i) {
      sets[static_cast<unsigned char>(inner_chars[i])] = static_cast<CharSet>(4U << i);
    }
  }
};
inline constexpr CharTable char_table{};

constexpr bool is_in(char c, CharSet set) noexcept {
  return (char_table.sets[static_cast<unsigned char>(c)] & set) != 0;
}

/// Letters, digits, and those of `-_.:` that are `extra`.
constexpr CharSet word_chars(std::string_view extra) noexcept {
  CharSet set = alphanumerics;
  for (const char c : extra) set |= char_table.sets[static_cast<unsigned char>(c)];
  return set;
}

inline constexpr CharSet vendor_chars = word_chars("_-.");
inline constexpr CharSet device_chars = word_chars("_-.:");

/// The index of the first character that is not in a set; the size when there is none.
constexpr std::size_t find_foreign(std::string_view text, CharSet set) noexcept {
  std::size_t i = 0;
  while (i < text.size() && is_in(text[i], set)) ++i;
  return i;
}

/// Whether a text, of which only the ends are checked, begins with one of `first`, and ends with a
/// letter or digit.
constexpr bool has_good_ends(std::string_view text, CharSet first) noexcept {
  return !text.empty() && is_in(text.front(), first) && is_in(text.back(), alphanumerics);
}

/// Letters and digits, with `extra` characters of `-_.:` allowed between the first and the last.
constexpr bool is_word(std::string_view text, std::string_view extra) noexcept {
  return has_good_ends(text, alphanumerics) && find_foreign(text, word_chars(extra)) == text.size();
}

/// Takes the part of a name before `mark` off the front of a text. False when that is not a vendor
/// or class.
constexpr bool take_part(std::string_view& text, char mark, std::string_view& part) noexcept {
  const auto size = find_foreign(text, vendor_chars);
  if (size == text.size() || text[size] != mark) return false;
  part = text.substr(0, size);
  text.remove_prefix(size + 1);
  return has_good_ends(part, letters);
}

}  // namespace detail

/// Whether a text is a vendor name: a letter, then letters, digits, `_`, `-` and dots, then a
/// letter or digit, all of ASCII; or one letter. SPEC.md, Kind.
constexpr bool is_vendor_name(std::string_view text) noexcept {
  return detail::has_good_ends(text, detail::letters) &&
         detail::find_foreign(text, detail::vendor_chars) == text.size();
}

/// Whether a text is a class name: the same rule as for vendors. SPEC.md, Kind.
constexpr bool is_class_name(std::string_view text) noexcept {
  return is_vendor_name(text);
}

/// Whether a text is a device name: the same rule, but it may begin with a digit and contain
/// colons. SPEC.md, CDI Devices.
constexpr bool is_device_name(std::string_view text) noexcept {
  return detail::has_good_ends(text, detail::alphanumerics) &&
         detail::find_foreign(text, detail::device_chars) == text.size();
}

/// Splits `vendor.com/class` at its first slash and checks both parts; `device` stays empty.
/// Nothing when a part is not valid. Does not allocate.
constexpr std::optional<QualifiedName> parse_kind(std::string_view text) noexcept {
  QualifiedName kind;
  if (!detail::take_part(text, '/', kind.vendor) || !is_class_name(text)) return std::nullopt;
  kind.device_class = text;
  return kind;
}

/// Splits and checks a qualified device name; nothing when it is not valid. Does not allocate, so
/// that a runtime can call it for every `--device`.
constexpr std::optional<QualifiedName> parse_name(std::string_view text) noexcept {
  QualifiedName name;
  const bool is_kind =
      detail::take_part(text, '/', name.vendor) && detail::take_part(text, '=', name.device_class);
  if (!is_kind || !is_device_name(text)) return std::nullopt;
  name.device = text;
  return name;
}

/// `vendor.com/class=device` from a kind and a device, which are not checked.
std::string qualified_name(std::string_view kind, std::string_view device);

namespace detail {

/// The first fault of a text that is not a word with those `extra` characters, as the end of a
/// sentence. Only for texts that `is_word` rejects.
std::string word_fault(std::string_view text, std::string_view extra);

/// What to do about that; empty when the fault says it.
std::string word_advice(std::string_view text);

}  // namespace detail

/// A part of a qualified name, for `name_error`.
enum class NamePart {
  vendor,        ///< see `is_vendor_name`
  device_class,  ///< see `is_class_name`
  device         ///< see `is_device_name`
};

/// Why `text` is not valid as that part, as `Errc::invalid_name`, and what to change. Only for
/// texts that the check of that part rejects.
Error name_error(NamePart part, std::string_view text);

/// Why `text` is not a kind (`vendor.com/class`), as `Errc::invalid_name`. Only for texts that
/// `parse_kind` rejects.
Error kind_error(std::string_view text);

/// Why `text` is not a qualified name, as `Errc::invalid_name`. Only for texts that `parse_name`
/// rejects.
Error qualified_name_error(std::string_view text);

/// The name of a spec file, without `.json` or `.yaml`: `vendor.com-class`. Kinds that differ only
/// in the place of the slash share it: a-b/c and a/b-c. `Errc::invalid_name` when the kind is not
/// valid.
Result<std::string> spec_name(std::string_view kind);

/// The same for a spec that is needed only as long as `id`, such as a container, exists:
/// `vendor.com-class_id`. Slashes in the id become `_`. `Errc::invalid_name` when the kind is not
/// valid, or the id has a NUL or another control character.
Result<std::string> transient_spec_name(std::string_view kind, std::string_view id);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/name.inl>
#endif

#endif  // CDI_RULES_NAME_HPP
