// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_NAME_HPP
#define CDI_NAME_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

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
inline std::string qualified_name(std::string_view kind, std::string_view device) {
  std::string name;
  name.reserve(kind.size() + 1 + device.size());
  return name.append(kind).append(1, '=').append(device);
}

namespace detail {

/// Why `text` is no word with those `extra` characters, to go on after the text: the fault that
/// stands first. Only for texts that `is_word` refuses.
inline std::string word_fault(std::string_view text, std::string_view extra) {
  if (text.empty()) return " is empty: write at least one letter or digit";
  if (!is_alphanumeric(text.front())) return " must begin with a letter or digit";
  const auto at = find_foreign(text.substr(0, text.size() - 1), extra);
  if (at == std::string_view::npos) return " must end with a letter or digit";
  std::string fault = " may hold only letters, digits and";
  for (const char c : extra) fault.append(1, ' ').append(1, c);
  const auto size = utf8_size(text.substr(at));
  fault.append("; byte ").append(std::to_string(at + 1)).append(" is ");
  return fault.append(quoted(text.substr(at, size == 0 ? 1 : size)));
}

}  // namespace detail

/// What part of a qualified name a text was meant as, for `name_error`.
enum class NamePart {
  vendor,        ///< see `is_vendor_name`
  device_class,  ///< see `is_class_name`
  device         ///< see `is_device_name`
};

/// Why `text` is not a name of that part, as `Errc::invalid_name`, in words that say what to
/// change. Only for texts that the check of that part refuses.
inline Error name_error(NamePart part, std::string_view text) {
  const bool device = part == NamePart::device;
  std::string message = device                           ? "device name "
                        : part == NamePart::device_class ? "class "
                                                         : "vendor ";
  message.append(detail::quoted(text));
  if (!device && !text.empty() && !detail::is_letter(text.front())) {
    message.append(" must begin with a letter");
  } else {
    message.append(detail::word_fault(text, device ? "_-.:" : "_-."));
  }
  return Error{.code = Errc::invalid_name, .message = std::move(message)};
}

/// Why `text` is no kind (`vendor.com/class`), as `Errc::invalid_name`. Only for texts that
/// `parse_kind` refuses.
inline Error kind_error(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return {.code = Errc::invalid_name,
            .message = "kind " + detail::quoted(text) + " has no slash: write vendor.com/class"};
  }
  const auto vendor = text.substr(0, slash);
  if (!is_vendor_name(vendor)) return name_error(NamePart::vendor, vendor);
  return name_error(NamePart::device_class, text.substr(slash + 1));
}

/// Why `text` is no qualified name, as `Errc::invalid_name`. Only for texts that `parse_name`
/// refuses.
inline Error qualified_name_error(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return {.code = Errc::invalid_name,
            .message = detail::quoted(text) +
                       " is no qualified device name: write vendor.com/class=device"};
  }
  if (!parse_kind(text.substr(0, equals))) return kind_error(text.substr(0, equals));
  return name_error(NamePart::device, text.substr(equals + 1));
}

/// What to call the file of a spec, without `.json` or `.yaml`: `vendor.com-class`. Kinds that
/// differ only in where the slash stands share it: a-b/c and a/b-c. `Errc::invalid_name` for what
/// is no kind.
inline Result<std::string> spec_name(std::string_view kind) {
  const auto parts = parse_kind(kind);
  if (!parts) return kind_error(kind);
  return std::string{parts->vendor}.append(1, '-').append(parts->device_class);
}

/// The same for a spec that comes and goes with what `id` names, such as a container:
/// `vendor.com-class_id`. Slashes in the id become `_`. `Errc::invalid_name` for what is no kind,
/// and for ids with NUL or another control character.
inline Result<std::string> transient_spec_name(std::string_view kind, std::string_view id) {
  auto name = spec_name(kind);
  if (!name) return name;
  name->append(1, '_');
  for (const char c : id) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return Error{
          .code = Errc::invalid_name,
          .message = "id " + detail::quoted(id) + " has a control character: leave it out"};
    }
    name->append(1, c == '/' ? '_' : c);
  }
  return name;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_NAME_HPP
