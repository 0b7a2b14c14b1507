// `parse_json`: JSON text to a `Document`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_PARSE_JSON_HPP
#define CDI_TEXT_PARSE_JSON_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Parses a JSON text into a document; `file` is its name in messages. Text that RFC 8259 does not
/// allow is `Errc::syntax`; keys written twice are `Errc::schema`; text over a limit is
/// `Errc::limit`. One byte order mark is ignored. Numbers of any size keep their text. The text
/// need not outlive the call. Costs one pass.
Result<Document> parse_json(std::string_view text, std::string_view file = {},
                            const Limits& limits = {});

namespace detail {

/// The same for a text that the document takes. A text that is refused is left as it was.
Result<Document> take_json(std::string& text, std::string_view file, const Limits& limits);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/parse_json.inl>
#endif

#endif  // CDI_TEXT_PARSE_JSON_HPP
