// `sha256`, for `ReadOptions::digest`. Needs libcrypto.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SHA256_HPP
#define CDI_FILES_SHA256_HPP

#include <array>
#include <openssl/sha.h>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The SHA-256 of bytes as 64 hexadecimal digits in lower case; empty if OpenSSL refuses to compute
/// it. Threads may call it at the same time.
///
/// Link with `-lcrypto`. OpenSSL is on every node, keeps its ABI within a major release, is
/// required on FIPS hosts, and may be linked statically. All its releases and forks have `SHA256`,
/// which saves the seven thousand lines of <openssl/evp.h>. No other header includes this one.
inline std::string sha256(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  const auto* const first = reinterpret_cast<const unsigned char*>(bytes.data());
  if (::SHA256(first, bytes.size(), digest.data()) == nullptr) return {};
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned byte : digest) text.append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  return text;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_SHA256_HPP
