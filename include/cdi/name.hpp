// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_NAME_HPP
#define CDI_NAME_HPP

#include <optional>
#include <string>
#include <string_view>

#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A fully qualified device name, `vendor.com/class=device`, seen as its three parts.
///
/// Points into the text it was parsed from.
struct QualifiedName {
  std::string_view vendor{};
  std::string_view device_class{};  // `class` is a keyword
  std::string_view device{};

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

/// Letters and digits, with `extra` characters allowed between the first and the last.
constexpr bool is_word(std::string_view text, std::string_view extra) noexcept {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  for (const char c : text) {
    if (!is_alphanumeric(c) && extra.find(c) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace detail

/// Vendors: a letter, then letters, digits, `_`, `-`, `.`, then a letter or digit. One letter will
/// do.
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
constexpr std::optional<QualifiedName> parse_kind(std::string_view text) noexcept {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const QualifiedName kind{text.substr(0, slash), text.substr(slash + 1), {}};
  if (!is_vendor_name(kind.vendor) || !is_class_name(kind.device_class)) return std::nullopt;
  return kind;
}

/// Splits and checks a device name. Does not allocate, so it can be asked about every `--device`.
constexpr std::optional<QualifiedName> parse_name(std::string_view text) noexcept {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto name = parse_kind(text.substr(0, equals));
  if (!name) return std::nullopt;
  name->device = text.substr(equals + 1);
  if (!is_device_name(name->device)) return std::nullopt;
  return name;
}

/// `vendor.com/class=device`
inline std::string qualified_name(std::string_view kind, std::string_view device) {
  std::string name;
  name.reserve(kind.size() + 1 + device.size());
  return name.append(kind).append(1, '=').append(device);
}

/// The rule that a text breaks as a vendor, class or device name; for messages.
enum class NamePart { vendor, device_class, device };

/// Why `text` is not a name of that part, in words that say what to change.
inline Error name_error(NamePart part, std::string_view text) {
  const bool device = part == NamePart::device;
  std::string message = device                           ? "device name "
                        : part == NamePart::device_class ? "class "
                                                         : "vendor ";
  message.append(detail::quoted(text));
  const auto allowed = device ? std::string_view{"_-.:"} : std::string_view{"_-."};
  const auto bad = [&](char c) {
    return !detail::is_alphanumeric(c) && allowed.find(c) == std::string_view::npos;
  };
  if (text.empty()) {
    message.append(" is empty");
  } else if (device ? !detail::is_alphanumeric(text.front()) : !detail::is_letter(text.front())) {
    message.append(device ? " must begin with a letter or digit" : " must begin with a letter");
  } else if (!detail::is_alphanumeric(text.back())) {
    message.append(" must end with a letter or digit");
  } else {
    std::size_t at = 0;
    while (at < text.size() && !bad(text[at])) ++at;
    message.append(" may hold only letters, digits and ").append(device ? "_ - . :" : "_ - .");
    message.append("; byte ").append(std::to_string(at + 1)).append(" is another character");
  }
  return Error{.code = Errc::invalid_name, .message = std::move(message)};
}

/// Why `text` is no kind (`vendor.com/class`). Only for texts that `parse_kind` refuses.
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

/// Why `text` is no qualified name. Only for texts that `parse_name` refuses.
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

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_NAME_HPP
