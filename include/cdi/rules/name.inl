// The bodies of <cdi/rules/name.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_NAME_INL
#define CDI_RULES_NAME_INL

#include <utility>

#include <cdi/rules/name.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string qualified_name(std::string_view kind, std::string_view device) {
  std::string name;
  name.reserve(kind.size() + 1 + device.size());
  return name.append(kind).append(1, '=').append(device);
}

namespace detail {

CDI_INLINE std::string word_fault(std::string_view text, std::string_view extra) {
  if (text.empty()) return " is empty";
  if (!is_alphanumeric(text.front())) return " must begin with a letter or digit";
  const auto inner = text.substr(0, text.size() - 1);
  const auto at = find_foreign(inner, word_chars(extra));
  if (at == inner.size()) return " must end with a letter or digit";
  std::string fault = " may contain only letters, digits and";
  for (const char c : extra) fault.append(1, ' ').append(1, c);
  const auto size = utf8_size(text.substr(at));
  fault.append("; byte ").append(std::to_string(at + 1)).append(" is ");
  return fault.append(quoted(text.substr(at, size == 0 ? 1 : size)));
}

CDI_INLINE std::string word_advice(std::string_view text) {
  return text.empty() ? "write at least one letter or digit" : "";
}

}  // namespace detail

CDI_INLINE Error name_error(NamePart part, std::string_view text) {
  const bool device = part == NamePart::device;
  std::string message = device                           ? "device name "
                        : part == NamePart::device_class ? "class "
                                                         : "vendor ";
  message.append(cdi::quoted(text));
  if (!device && !text.empty() && !detail::is_letter(text.front())) {
    message.append(" must begin with a letter");
  } else {
    message.append(detail::word_fault(text, device ? "_-.:" : "_-."));
  }
  return Error{.code = Errc::invalid_name,
               .message = std::move(message),
               .advice = std::string{detail::word_advice(text)}};
}

CDI_INLINE Error kind_error(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return {.code = Errc::invalid_name,
            .message = "kind " + cdi::quoted(text) + " has no slash",
            .advice = "write vendor.com/class"};
  }
  const auto vendor = text.substr(0, slash);
  if (!is_vendor_name(vendor)) return name_error(NamePart::vendor, vendor);
  return name_error(NamePart::device_class, text.substr(slash + 1));
}

CDI_INLINE Error qualified_name_error(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return {.code = Errc::invalid_name,
            .message = cdi::quoted(text) + " is not a qualified device name",
            .advice = "write vendor.com/class=device"};
  }
  if (!parse_kind(text.substr(0, equals))) return kind_error(text.substr(0, equals));
  return name_error(NamePart::device, text.substr(equals + 1));
}

CDI_INLINE Result<std::string> spec_name(std::string_view kind) {
  const auto parts = parse_kind(kind);
  if (!parts) return kind_error(kind);
  return std::string{parts->vendor}.append(1, '-').append(parts->device_class);
}

CDI_INLINE Result<std::string> transient_spec_name(std::string_view kind, std::string_view id) {
  auto name = spec_name(kind);
  if (!name) return name;
  name->append(1, '_');
  for (const char c : id) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return Error{.code = Errc::invalid_name,
                   .message = "id " + cdi::quoted(id) + " contains a control character",
                   .advice = "remove it"};
    }
    name->append(1, c == '/' ? '_' : c);
  }
  return name;
}

}  // namespace cdi

#endif  // CDI_RULES_NAME_INL
