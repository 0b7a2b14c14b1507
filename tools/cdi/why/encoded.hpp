// The encodings in kubelet's checkpoints: CRC-32 and protobuf.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encoded {

/// CRC-32 as in IEEE 802.3.
inline std::uint32_t crc32(std::string_view bytes) {
  constexpr std::uint32_t polynomial = 0xedb8'8320;
  std::uint32_t sum = 0xffff'ffff;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? polynomial : 0);
  }
  return ~sum;
}

namespace detail {

/// Removes a number from the front of a message; nullopt if the message ends inside it.
inline std::optional<std::uint64_t> take_number(std::string_view& message) {
  constexpr unsigned max_bits = 64;
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < max_bits && !message.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message.front());
    message.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace detail

/// A field of a protobuf message that holds text, bytes or another message.
struct Field {
  std::uint64_t number = 0;
  std::string_view bytes{};
};

/// The fields of a protobuf message that hold bytes, in order. Valid as long as the message;
/// nullopt if the message is torn.
inline std::optional<std::vector<Field>> fields_of(std::string_view message) {
  constexpr std::size_t eight = 8;
  constexpr std::size_t four = 4;
  std::vector<Field> out;
  while (!message.empty()) {
    const auto tag = detail::take_number(message);
    if (!tag) return std::nullopt;
    std::uint64_t size = 0;
    switch (*tag & 7U) {
      case 0:
        if (!detail::take_number(message)) return std::nullopt;
        continue;
      case 1: size = eight; break;
      case 2: {
        const auto given = detail::take_number(message);
        if (!given) return std::nullopt;
        size = *given;
        break;
      }
      case 5: size = four; break;
      default: return std::nullopt;
    }
    if (size > message.size()) return std::nullopt;
    const auto bytes = message.substr(0, static_cast<std::size_t>(size));
    if ((*tag & 7U) == 2) out.push_back({*tag >> 3, bytes});
    message.remove_prefix(bytes.size());
  }
  return out;
}

/// The first field with a number as text; empty if there is none.
inline std::string text_in(const std::vector<Field>& fields, std::uint64_t number) {
  for (const auto& field : fields) {
    if (field.number == number) return std::string{field.bytes};
  }
  return {};
}

}  // namespace encoded
