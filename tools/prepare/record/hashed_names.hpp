// Replaces what identifies a node in a recording: UUIDs and serial numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/text/unicode.hpp>

#include "recorded_file.hpp"

namespace prepare {

/// Replaces values by hashes of the same form, the same value always by the same hash. The key of
/// the hash is random and not kept, so the serial numbers cannot be found by trying.
class HashedNames {
 public:
  static cdi::Result<HashedNames> make();

  explicit HashedNames(std::string key) : key_{std::move(key)} {}

  /// Replaces the names in all paths, links and texts.
  RecordedFiles replace(const RecordedFiles& files);

 private:
  /// Parts of the names of attributes that identify a device or a host.
  static constexpr std::string_view identifiers[] = {"serial", "uuid", "guid", "unique_id",
                                                     "asset_tag"};

  static bool is_identifier(std::string_view path);

  /// The hexadecimal digits of the hash of a value, which may be in capitals.
  std::string digits(std::string_view value) const;

  /// The hash of a number, which has at most 63 bits.
  std::uint64_t number(std::uint64_t value) const;

  static bool is_hex(char c) { return cdi::detail::hex_digit(c) >= 0; }

  static bool is_letter(char c);

  /// Whether a text begins with a UUID: 8-4-4-4-12 hexadecimal digits.
  static bool begins_with_uuid(std::string_view text);

  std::string without_uuids(std::string_view text);

  /// A hash with hexadecimal digits in the places of letters and digits. No other value has the
  /// same, unless a short form has too few.
  std::string same_form(std::string_view value);

  /// The hash of an attribute. A number stays a number, and a number that means none is unchanged.
  std::string identifier(const std::string& text);

  static bool is_plain_number(std::string_view value);

  /// Replaces the numbers of AMD's topology that identify a GPU and its fabric.
  std::string without_numbers(std::string_view text) const;

  std::string key_;
  std::map<std::string, std::string> owners_{};  // hashes, by the text that replaces the values
};

}  // namespace prepare
