// Limits of ResourceSlices in the Kubernetes API.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../kit/base/text.hpp"

namespace prepare {

namespace slice_limits {

/// Devices in a slice. 128 are allowed if none has taints or counters; with this limit, a device
/// never moves to another slice when it gets one.
inline constexpr std::size_t devices = 64;
inline constexpr std::size_t counter_sets = 8;  // in a slice
inline constexpr std::size_t counters = 32;     // in a set
inline constexpr std::size_t attributes = 32;   // of a device, with its capacities
inline constexpr std::size_t name = 32;         // of an attribute, without its domain
inline constexpr std::size_t value = 64;        // of an attribute
inline constexpr std::size_t driver = 63;
inline constexpr std::size_t object_name = 253;  // of a node, a slice or a claim

}  // namespace slice_limits

/// Whether a text can be the name of an attribute without a domain: a C identifier.
inline bool is_attribute_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= slice_limits::name && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Whether a text is a DNS subdomain: labels of [a-z0-9-] with dots between them.
inline bool is_dns_subdomain(std::string_view text, std::size_t longest) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > longest || !is_letter(text.back())) return false;
  char before = '.';
  for (const char c : text) {
    if (!is_letter(c) && c != '-' && c != '.') return false;
    if (!is_letter(c) && before == '.') return false;
    if (c == '.' && before == '-') return false;
    before = c;
  }
  return true;
}

/// A driver version as a semantic version: its first three numbers, without leading zeros. Nullopt
/// if it does not begin with a number.
inline std::optional<std::string> semantic_version(std::string_view text) {
  std::uint32_t numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = tools::parse_number<std::uint32_t>(text.substr(0, end));
    if (!number && i == 0) return std::nullopt;
    if (!number) break;
    numbers[i] = *number;
    if (end == text.size() || text[end] != '.') break;
    text.remove_prefix(end + 1);
  }
  return fmt::format("{}", fmt::join(numbers, "."));
}

/// A number of bytes as the API server writes it: "80Gi".
inline std::string quantity(std::uint64_t bytes) {
  constexpr std::string_view binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  constexpr std::string_view decimal[] = {"", "k", "M", "G", "T", "P"};
  const bool is_binary = bytes % 1024 == 0;
  const std::uint64_t base = is_binary ? 1024 : 1000;
  std::size_t power = 0;
  while (bytes != 0 && bytes % base == 0 && power + 1 < std::size(binary)) {
    bytes /= base;
    ++power;
  }
  return fmt::format("{}{}", bytes, is_binary ? binary[power] : decimal[power]);
}

}  // namespace prepare
