// `parse_yaml`: parses YAML text into a `Document`. `text/limits.hpp` has its limits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_PARSE_YAML_HPP
#define CDI_TEXT_YAML_PARSE_YAML_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Parses the first document of a YAML text; `file` is the text's name in messages. Aliases and
/// merge keys (`<<`) are replaced with the values that they repeat, within the limits. Returns
/// `Errc::syntax` for empty or invalid text, `Errc::unsupported` for the tag `!!binary`, which
/// other readers know, `Errc::schema` for duplicate keys, and `Errc::limit` for text over a limit.
/// The text is UTF-8, or UTF-16 with a byte order mark, and need not outlive the call.
/// `Document::rest` reports any text after the document. Costs one pass.
Result<Document> parse_yaml(std::string_view text, std::string_view file = {},
                            const Limits& limits = {});

namespace detail {

/// Parses a text that the document takes over. If the text is rejected, it stays unchanged.
Result<Document> parse_yaml_in_place(std::string& text, std::string_view file,
                                     const Limits& limits);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/yaml/parse_yaml.inl>
#endif

#endif  // CDI_TEXT_YAML_PARSE_YAML_HPP
