// `parse_json`: parses JSON text into a `Document`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_PARSE_JSON_HPP
#define CDI_TEXT_PARSE_JSON_HPP

#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Parses a JSON text into a document; `file` is the text's name in messages. Returns
/// `Errc::syntax` for text that RFC 8259 does not allow, `Errc::schema` for duplicate keys, and
/// `Errc::limit` for text over a limit. A byte order mark is ignored. Numbers of any size keep
/// their text. The text need not outlive the call. Costs one pass.
Result<Document> parse_json(std::string_view text, std::string_view file = {},
                            const Limits& limits = {});

namespace detail {

/// Parses a text that the document takes over. If the text is rejected, it stays unchanged.
Result<Document> parse_json_in_place(std::string& text, std::string_view file,
                                     const Limits& limits);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/parse_json.inl>
#endif

#endif  // CDI_TEXT_PARSE_JSON_HPP
