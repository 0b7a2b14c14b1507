// The bodies of <cdi/rules/annotation_key.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_ANNOTATION_KEY_INL
#define CDI_RULES_ANNOTATION_KEY_INL

#include <string>
#include <utility>

#include <cdi/rules/annotation_key.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Adds to an error that a part of the key is too long.
inline void add_length_fault(std::size_t size, std::string_view part, std::size_t longest,
                             Error& to) {
  to.message.append(" has ").append(std::to_string(size)).append(" bytes").append(part);
  to.advice = "use at most " + std::to_string(longest);
}

inline void add_domain_fault(std::string_view domain, Error& to) {
  if (domain.empty()) {
    to.message.append(" has nothing before its slash");
    to.advice = "add a domain, or omit the slash";
  } else if (domain.size() > longest_key_domain) {
    add_length_fault(domain.size(), " before its slash", longest_key_domain, to);
  } else {
    to.message.append(": domain ").append(quoted(domain));
    to.message.append(" must be words of letters, digits and inner -, separated by single dots");
  }
}

inline void add_name_fault(std::string_view name, Error& to) {
  if (name.size() > longest_key_name)
    return add_length_fault(name.size(), "", longest_key_name, to);
  to.message.append(word_fault(name, "-_."));
  to.advice = word_advice(name);
}

}  // namespace detail

CDI_INLINE Error annotation_key_error(std::string_view text) {
  Error error{.code = Errc::invalid, .message = "annotation key " + cdi::quoted(text)};
  const auto slash = text.find('/');
  const bool has_domain = slash != std::string_view::npos;
  const auto domain = text.substr(0, has_domain ? slash : 0);
  const auto name = text.substr(has_domain ? slash + 1 : 0);
  if (name.find('/') != std::string_view::npos) {
    error.message.append(" has more than one slash");
    error.advice = "write domain/name";
  } else if (has_domain && !detail::is_key_domain(domain)) {
    detail::add_domain_fault(domain, error);
  } else {
    if (has_domain) error.message.append(": name ").append(cdi::quoted(name));
    detail::add_name_fault(name, error);
  }
  return error;
}

CDI_INLINE Result<void> check_annotation_key(std::string_view key) {
  if (is_annotation_key(key)) return {};
  return annotation_key_error(key);
}

}  // namespace cdi

#endif  // CDI_RULES_ANNOTATION_KEY_INL
