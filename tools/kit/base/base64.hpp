// Decodes base64, as in a kubeconfig and in checkpoints of kubelet.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tools {

/// The bytes that a text encodes, with or without padding. White space is ignored. Nullopt for
/// other characters.
inline std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view blanks = " \t\r\n";
  while (!text.empty() && (text.back() == '=' || blanks.find(text.back()) != blanks.npos)) {
    text.remove_suffix(1);
  }
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (blanks.find(c) != blanks.npos) continue;
    const auto digit = digits.find(c);
    if (digit == digits.npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xffffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 0xffU);
  }
  if (count >= 6) return std::nullopt;  // one digit is not a byte
  return out;
}

}  // namespace tools
