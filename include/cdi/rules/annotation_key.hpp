// Annotation keys, as accepted by Kubernetes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_ANNOTATION_KEY_HPP
#define CDI_RULES_ANNOTATION_KEY_HPP

#include <cstddef>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Kubernetes' length limits, in bytes, before and after the slash of an annotation key.
inline constexpr std::size_t longest_key_domain = 253;
inline constexpr std::size_t longest_key_name = 63;

/// Whether a text is a DNS-1123 subdomain in any case: words of letters, digits and `-`, with dots.
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

}  // namespace detail

/// Whether a text is a Kubernetes annotation key: `name` or `domain/name`. The domain is a DNS
/// subdomain of at most 253 bytes; the name consists of at most 63 letters, digits, `-`, `_` and
/// `.`, and begins and ends with a letter or digit. Case does not matter. Does not allocate.
/// SPEC.md, Annotations.
constexpr bool is_annotation_key(std::string_view text) noexcept {
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    if (!detail::is_key_domain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return detail::is_key_name(text);
}

/// Returns the reason why `text` is not an annotation key, as `Errc::invalid`. Call this only for
/// texts that `is_annotation_key` rejects.
Error annotation_key_error(std::string_view text);

/// Checks a key with `is_annotation_key`; the error, `Errc::invalid`, says what to change.
Result<void> check_annotation_key(std::string_view key);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/annotation_key.inl>
#endif

#endif  // CDI_RULES_ANNOTATION_KEY_HPP
