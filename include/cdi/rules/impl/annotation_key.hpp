// The bodies of <cdi/rules/annotation_key.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_ANNOTATION_KEY_HPP
#define CDI_RULES_IMPL_ANNOTATION_KEY_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

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

CDI_INLINE Error annotation_key_error(std::string_view text) {
  std::string message = "annotation key " + cdi::quoted(text);
  const auto slash = text.find('/');
  const bool has_domain = slash != std::string_view::npos;
  const auto domain = text.substr(0, has_domain ? slash : 0);
  const auto name = text.substr(has_domain ? slash + 1 : 0);
  if (name.find('/') != std::string_view::npos) {
    message.append(" has more than one slash: write domain/name");
  } else if (has_domain && !detail::is_key_domain(domain)) {
    message.append(detail::key_domain_fault(domain));
  } else {
    if (has_domain) message.append(": name ").append(cdi::quoted(name));
    message.append(detail::key_name_fault(name));
  }
  return {.code = Errc::invalid, .message = std::move(message)};
}

CDI_INLINE Result<void> check_annotation_key(std::string_view key) {
  if (is_annotation_key(key)) return {};
  return annotation_key_error(key);
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_ANNOTATION_KEY_HPP
