// Parsing and checking qualified device names such as `vendor.com/class=device`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_NAME_HPP
#define CDI_RULES_NAME_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A fully qualified device name, `vendor.com/class=device`, as three parts.
///
/// The parts point into the parsed text, which must outlive them. SPEC.md, Kind and CDI Devices.
struct QualifiedName {
  std::string_view vendor{};        ///< before the slash: `vendor.com`
  std::string_view device_class{};  ///< between slash and `=`; `class` is a keyword
  std::string_view device{};        ///< after `=`; empty for a kind

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

/// A set of characters, as a combination of bits.
using CharSet = std::uint8_t;
inline constexpr CharSet letters = 1;
inline constexpr CharSet alphanumerics = 3;
inline constexpr std::string_view inner_chars = "-_.:";  // bits with the values 4 to 32

/// For each character, the sets that contain it.
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

/// Returns the set of letters, digits, and the characters of `-_.:` in `extra`.
constexpr CharSet word_chars(std::string_view extra) noexcept {
  CharSet set = alphanumerics;
  for (const char c : extra) set |= char_table.sets[static_cast<unsigned char>(c)];
  return set;
}

inline constexpr CharSet vendor_chars = word_chars("_-.");
inline constexpr CharSet device_chars = word_chars("_-.:");

/// Returns the index of the first character outside a set, or the size if there is none.
constexpr std::size_t find_foreign(std::string_view text, CharSet set) noexcept {
  std::size_t i = 0;
  while (i < text.size() && is_in(text[i], set)) ++i;
  return i;
}

/// Whether a text begins with a character from `first` and ends with a letter or digit. Only the
/// two ends are checked.
constexpr bool has_good_ends(std::string_view text, CharSet first) noexcept {
  return !text.empty() && is_in(text.front(), first) && is_in(text.back(), alphanumerics);
}

/// Whether a text consists of letters and digits, with `extra` from `-_.:` allowed in between.
constexpr bool is_word(std::string_view text, std::string_view extra) noexcept {
  return has_good_ends(text, alphanumerics) && find_foreign(text, word_chars(extra)) == text.size();
}

/// Removes the part before `mark` from the front of a name. Returns false if that part is not a
/// vendor or class name.
constexpr bool take_part(std::string_view& text, char mark, std::string_view& part) noexcept {
  const auto size = find_foreign(text, vendor_chars);
  if (size == text.size() || text[size] != mark) return false;
  part = text.substr(0, size);
  text.remove_prefix(size + 1);
  return has_good_ends(part, letters);
}

}  // namespace detail

/// Whether a text is a vendor name: a letter, then letters, digits, `_`, `-` and dots, then a
/// letter or digit, all ASCII; or a single letter. SPEC.md, Kind.
constexpr bool is_vendor_name(std::string_view text) noexcept {
  return detail::has_good_ends(text, detail::letters) &&
         detail::find_foreign(text, detail::vendor_chars) == text.size();
}

/// Whether a text is a class name; vendor names follow the same rule. SPEC.md, Kind.
constexpr bool is_class_name(std::string_view text) noexcept {
  return is_vendor_name(text);
}

/// Whether a text is a device name: like a vendor name, except that it may contain colons
/// and begin with a digit. SPEC.md, CDI Devices.
constexpr bool is_device_name(std::string_view text) noexcept {
  return detail::has_good_ends(text, detail::alphanumerics) &&
         detail::find_foreign(text, detail::device_chars) == text.size();
}

/// Splits `vendor.com/class` at the first slash and checks both parts; `device` stays empty.
/// Returns `nullopt` if a part is invalid. Does not allocate.
constexpr std::optional<QualifiedName> parse_kind(std::string_view text) noexcept {
  QualifiedName kind;
  if (!detail::take_part(text, '/', kind.vendor) || !is_class_name(text)) return std::nullopt;
  kind.device_class = text;
  return kind;
}

/// Splits and checks a qualified device name; returns `nullopt` for an invalid name. Does not
/// allocate, so that a runtime can call the function for every `--device`.
constexpr std::optional<QualifiedName> parse_name(std::string_view text) noexcept {
  QualifiedName name;
  const bool is_kind =
      detail::take_part(text, '/', name.vendor) && detail::take_part(text, '=', name.device_class);
  if (!is_kind || !is_device_name(text)) return std::nullopt;
  name.device = text;
  return name;
}

/// Joins a kind and a device to `vendor.com/class=device`, without checks.
std::string qualified_name(std::string_view kind, std::string_view device);

namespace detail {

/// Returns the first fault in a text, as the end of a sentence. Call this only for texts that
/// `is_word` rejects with the same `extra` characters.
std::string word_fault(std::string_view text, std::string_view extra);

/// Returns advice about that fault; empty if the fault is self-explanatory.
std::string word_advice(std::string_view text);

}  // namespace detail

/// The parts of a qualified name, for `name_error`.
enum class NamePart {
  vendor,        ///< see `is_vendor_name`
  device_class,  ///< see `is_class_name`
  device         ///< see `is_device_name`
};

/// Returns the reason why `text` is not a valid part, as `Errc::invalid_name`, with advice. Call
/// this only for texts that fail the part's check.
Error name_error(NamePart part, std::string_view text);

/// Returns the reason why `text` is not a kind (`vendor.com/class`), as `Errc::invalid_name`. Call
/// this only for texts that `parse_kind` rejects.
Error kind_error(std::string_view text);

/// Returns the reason why `text` is not a qualified name, as `Errc::invalid_name`. Call this only
/// for texts that `parse_name` rejects.
Error qualified_name_error(std::string_view text);

/// Returns a spec's file name without `.json` or `.yaml`: `vendor.com-class`. Kinds that differ
/// only in the place of the slash, such as a-b/c and a/b-c, share a name. Returns
/// `Errc::invalid_name` for an invalid kind.
Result<std::string> spec_name(std::string_view kind);

/// Returns the file name for a spec that is needed only while `id`, such as a container, exists:
/// `vendor.com-class_id`, with each slash in the id replaced by `_`. Returns `Errc::invalid_name`
/// if the kind is invalid, or the id contains a NUL or another control character.
Result<std::string> transient_spec_name(std::string_view kind, std::string_view id);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/name.inl>
#endif

#endif  // CDI_RULES_NAME_HPP
