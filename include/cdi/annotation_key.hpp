// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ANNOTATION_KEY_HPP
#define CDI_ANNOTATION_KEY_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The most bytes that Kubernetes allows in an annotation key before the slash, and after it.
inline constexpr std::size_t longest_key_domain = 253;
inline constexpr std::size_t longest_key_name = 63;

/// A DNS-1123 subdomain, but in either case: words of letters, digits and `-`, with dots between.
constexpr bool is_key_domain(std::string_view text) noexcept {
  if (text.size() > longest_key_domain) return false;
  for (auto dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_word(text.substr(0, dot), "-")) return false;
    text.remove_prefix(dot + 1);
  }
  return is_word(text, "-");
}

constexpr bool is_key_name(std::string_view text) noexcept {
  return text.size() <= longest_key_name && is_word(text, "-_.");
}

inline std::string key_length_fault(std::size_t size, std::string_view part, std::size_t longest) {
  std::string fault = " has " + std::to_string(size) + " bytes";
  return fault.append(part).append(": use at most ").append(std::to_string(longest));
}

inline std::string key_domain_fault(std::string_view domain) {
  if (domain.empty()) {
    return " has nothing before its slash: write a domain there, or leave the slash out";
  }
  if (domain.size() > longest_key_domain) {
    return key_length_fault(domain.size(), " before its slash", longest_key_domain);
  }
  return ": domain " + quoted(domain) +
         " must be words of letters, digits and inner -, with one dot between them";
}

inline std::string key_name_fault(std::string_view name) {
  if (name.size() > longest_key_name) return key_length_fault(name.size(), "", longest_key_name);
  return word_fault(name, "-_.");
}

}  // namespace detail

/// Keys of Kubernetes annotations: `name` or `domain/name`. The domain is a DNS subdomain of at
/// most 253 bytes; the name is at most 63 letters, digits, `-`, `_` and `.`, and begins and ends
/// with a letter or digit. Case does not matter. Does not allocate. SPEC.md, Annotations.
constexpr bool is_annotation_key(std::string_view text) noexcept {
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    if (!detail::is_key_domain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return detail::is_key_name(text);
}

/// Why `text` is no annotation key, as `Errc::invalid`. Only for texts that `is_annotation_key`
/// refuses.
inline Error annotation_key_error(std::string_view text) {
  std::string message = "annotation key " + detail::quoted(text);
  const auto slash = text.find('/');
  const bool has_domain = slash != std::string_view::npos;
  const auto domain = text.substr(0, has_domain ? slash : 0);
  const auto name = text.substr(has_domain ? slash + 1 : 0);
  if (name.find('/') != std::string_view::npos) {
    message.append(" has more than one slash: write domain/name");
  } else if (has_domain && !detail::is_key_domain(domain)) {
    message.append(detail::key_domain_fault(domain));
  } else {
    if (has_domain) message.append(": name ").append(detail::quoted(name));
    message.append(detail::key_name_fault(name));
  }
  return {.code = Errc::invalid, .message = std::move(message)};
}

/// Checks an annotation key by `is_annotation_key`; `Errc::invalid` says what to change.
inline Result<void> check_annotation_key(std::string_view key) {
  if (is_annotation_key(key)) return {};
  return annotation_key_error(key);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_ANNOTATION_KEY_HPP
