// Qualified device names such as `vendor.com/class=device`: parsed and checked.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_NAME_HPP
#define CDI_RULES_NAME_HPP

#include <cstddef>
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

/// Where the first character stands that is no letter, no digit and none of `extra`; `npos` when
/// there is none.
constexpr std::size_t find_foreign(std::string_view text, std::string_view extra) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_alphanumeric(text[i]) && extra.find(text[i]) == std::string_view::npos) return i;
  }
  return std::string_view::npos;
}

/// Letters and digits, with `extra` characters allowed between the first and the last.
constexpr bool is_word(std::string_view text, std::string_view extra) noexcept {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         find_foreign(text, extra) == std::string_view::npos;
}

}  // namespace detail

/// Vendors: a letter, then letters, digits, `_`, `-` and dots, then a letter or digit, all of
/// ASCII. One letter will do.
constexpr bool is_vendor_name(std::string_view text) noexcept {
  return detail::is_word(text, "_-.") && detail::is_letter(text.front());
}

/// Classes follow the rule of vendors.
constexpr bool is_class_name(std::string_view text) noexcept {
  return is_vendor_name(text);
}

/// Devices may also begin with a digit and contain colons.
constexpr bool is_device_name(std::string_view text) noexcept {
  return detail::is_word(text, "_-.:");
}

/// Splits `vendor.com/class` at its first slash and checks both parts; `device` stays empty.
/// Nothing when a part is no name. Does not allocate.
constexpr std::optional<QualifiedName> parse_kind(std::string_view text) noexcept {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const QualifiedName kind{text.substr(0, slash), text.substr(slash + 1), {}};
  if (!is_vendor_name(kind.vendor) || !is_class_name(kind.device_class)) return std::nullopt;
  return kind;
}

/// Splits and checks a qualified device name; nothing when it is none. Does not allocate, so it can
/// be asked about every `--device`.
constexpr std::optional<QualifiedName> parse_name(std::string_view text) noexcept {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto name = parse_kind(text.substr(0, equals));
  if (!name) return std::nullopt;
  name->device = text.substr(equals + 1);
  if (!is_device_name(name->device)) return std::nullopt;
  return name;
}

/// `vendor.com/class=device`, of a kind and a device, which are not checked.
std::string qualified_name(std::string_view kind, std::string_view device);

namespace detail {

/// Why `text` is no word with those `extra` characters, to go on after the text: the fault that
/// stands first. Only for texts that `is_word` refuses.
std::string word_fault(std::string_view text, std::string_view extra);

}  // namespace detail

/// What part of a qualified name a text was meant as, for `name_error`.
enum class NamePart {
  vendor,        ///< see `is_vendor_name`
  device_class,  ///< see `is_class_name`
  device         ///< see `is_device_name`
};

/// Why `text` is not a name of that part, as `Errc::invalid_name`, in words that say what to
/// change. Only for texts that the check of that part refuses.
Error name_error(NamePart part, std::string_view text);

/// Why `text` is no kind (`vendor.com/class`), as `Errc::invalid_name`. Only for texts that
/// `parse_kind` refuses.
Error kind_error(std::string_view text);

/// Why `text` is no qualified name, as `Errc::invalid_name`. Only for texts that `parse_name`
/// refuses.
Error qualified_name_error(std::string_view text);

/// What to call the file of a spec, without `.json` or `.yaml`: `vendor.com-class`. Kinds that
/// differ only in where the slash stands share it: a-b/c and a/b-c. `Errc::invalid_name` for what
/// is no kind.
Result<std::string> spec_name(std::string_view kind);

/// The same for a spec that comes and goes with what `id` names, such as a container:
/// `vendor.com-class_id`. Slashes in the id become `_`. `Errc::invalid_name` for what is no kind,
/// and for ids with NUL or another control character.
Result<std::string> transient_spec_name(std::string_view kind, std::string_view id);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/name.hpp>
#endif

#endif  // CDI_RULES_NAME_HPP
