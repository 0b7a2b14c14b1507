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

/// The SHA-256 of bytes as 64 lower case hexadecimal digits; empty when the library refuses to
/// compute it. Threads may call it at the same time.
///
/// By OpenSSL: link with `-lcrypto`. It is on every node, keeps its ABI within a major release, is
/// the one FIPS hosts ask for, and has a license for static linking. `SHA256` is there in all its
/// releases and forks, and spares the seven thousand lines of <openssl/evp.h>. Nothing else of this
/// library includes this header.
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
