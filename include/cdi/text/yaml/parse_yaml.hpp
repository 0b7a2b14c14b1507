// `parse_yaml`: YAML text to a `Document`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_YAML_PARSE_YAML_HPP
#define CDI_TEXT_YAML_PARSE_YAML_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Parses the first document of a YAML text; `file` is its name in messages. Aliases and merge keys
/// (`<<`) are replaced by the values that they repeat, within the limits. Text that is empty or not
/// YAML is `Errc::syntax`; the tag `!!binary`, which other readers know, is `Errc::unsupported`;
/// keys written twice are `Errc::schema`; text over a limit is `Errc::limit`. The text is UTF-8, or
/// UTF-16 with a byte order mark, and need not outlive the call. `Document::rest` reports text
/// after the document. Costs one pass.
Result<Document> parse_yaml(std::string_view text, std::string_view file = {},
                            const Limits& limits = {});

namespace detail {

/// The same for a text that the document takes. A text that is refused is left as it was.
Result<Document> take_yaml(std::string& text, std::string_view file, const Limits& limits);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/yaml/parse_yaml.inl>
#endif

#endif  // CDI_TEXT_YAML_PARSE_YAML_HPP
