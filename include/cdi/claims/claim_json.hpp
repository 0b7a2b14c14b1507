// The JSON text of a claim in the journal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_JSON_HPP
#define CDI_CLAIMS_CLAIM_JSON_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The text of a claim's file, with a line break at its end. Fails with `Errc::invalid` for what
/// `parse_claim` would refuse, such as a kind or the name of a device that CDI does not allow, and
/// for a member that is not UTF-8; with `Errc::limit` for a text over 1 MiB.
Result<std::string> claim_to_json(const Claim& claim);

/// Reads a claim from the text of `claim_to_json`. `path` is for messages. Fails with
/// `Errc::unsupported` for the text of a later version, and otherwise like `read_json`, and with
/// `Errc::schema` for what `claim_to_json` would not write.
Result<Claim> parse_claim(std::string_view text, std::string_view path);

namespace detail {

/// The spec directory in a text that `parse_claim` cannot read, because it is damaged or of a later
/// version; empty if there is none.
std::string named_spec_dir(std::string_view text);

/// Whether the journal can record a claim, as far as its names tell: see `claim_to_json`.
Result<void> check_claim(const Claim& claim);

/// The error for a file that is not the journal of a claim.
Error not_a_claim();

/// The size of a claim's file up to which it is read, in bytes.
inline constexpr std::size_t claim_size_limit = 1 << 20;

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/claims/claim_json.inl>
#endif

#endif  // CDI_CLAIMS_CLAIM_JSON_HPP
