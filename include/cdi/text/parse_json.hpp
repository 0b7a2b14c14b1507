// `parse_json`: JSON text to a `Document`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_PARSE_JSON_HPP
#define CDI_TEXT_PARSE_JSON_HPP

#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Parses a JSON text into a document; `file` names it in messages. Refuses what RFC 8259 does,
/// with `Errc::syntax`; keys written twice, with `Errc::schema`; what is over a limit, with
/// `Errc::limit`. Passes over one byte order mark. Numbers keep their text, however large. The text
/// may go afterwards. Costs one pass.
Result<Document> parse_json(std::string_view text, std::string_view file = {},
                            const Limits& limits = {});

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/impl/parse_json.hpp>
#endif

#endif  // CDI_TEXT_PARSE_JSON_HPP
