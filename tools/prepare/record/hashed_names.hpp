// Replaces what identifies a node in a recording: UUIDs and serial numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_RECORD_HASHED_NAMES_HPP
#define CDI_TOOLS_PREPARE_RECORD_HASHED_NAMES_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/random.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/text/unicode.hpp>

#include "../../kit/base/glob.hpp"
#include "../../kit/base/sha256.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "recorded_file.hpp"

namespace prepare {

/// Replaces values by hashes of the same form, the same value always by the same hash. The key of
/// the hash is random and not kept, so the serial numbers cannot be found by trying.
class HashedNames {
 public:
  static cdi::Result<HashedNames> make() {
    std::string key(32, '\0');
    const auto got = ::getrandom(key.data(), key.size(), 0);
    if (got != static_cast<ssize_t>(key.size())) {
      return tools::path_error("getrandom", got < 0 ? errno : EIO);
    }
    return HashedNames{std::move(key)};
  }

  explicit HashedNames(std::string key) : key_{std::move(key)} {}

  /// Replaces the names in all paths, links and texts.
  RecordedFiles replace(const RecordedFiles& files) {
    RecordedFiles out;
    for (const auto& [path, file] : files) {
      auto hashed = file;
      hashed.target = without_uuids(file.target);
      hashed.text = is_identifier(path) ? identifier(file.text) : without_uuids(file.text);
      if (path.ends_with("/properties")) hashed.text = without_numbers(hashed.text);
      out.emplace(without_uuids(path), std::move(hashed));
    }
    return out;
  }

 private:
  /// Parts of the names of attributes that identify a device or a host.
  static constexpr std::string_view identifiers[] = {"serial", "uuid", "guid", "unique_id",
                                                     "asset_tag"};

  static bool is_identifier(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    const bool is_attribute = path.starts_with("/sys/") || path.starts_with("/proc/");
    return is_attribute && std::any_of(std::begin(identifiers), std::end(identifiers),
                                       [&](auto part) { return name.find(part) != name.npos; });
  }

  /// The hexadecimal digits of the hash of a value, which may be in capitals.
  std::string digits(std::string_view value) const {
    std::string low{value};
    std::transform(low.begin(), low.end(), low.begin(), cdi::detail::ascii_lower);
    return tools::sha256(key_ + low).substr(std::string_view{"sha256:"}.size());
  }

  /// The hash of a number, which has at most 63 bits.
  std::uint64_t number(std::uint64_t value) const {
    const auto hex = digits(fmt::format("{:016x}", value)).substr(0, 16);
    return tools::parse_number<std::uint64_t>(hex, 16).value_or(0) >> 1U;
  }

  static bool is_hex(char c) { return cdi::detail::hex_digit(c) >= 0; }

  static bool is_letter(char c) {
    const char lower = cdi::detail::ascii_lower(c);
    return lower >= 'a' && lower <= 'z';
  }

  /// Whether a text begins with a UUID: 8-4-4-4-12 hexadecimal digits.
  static bool begins_with_uuid(std::string_view text) {
    constexpr std::string_view form = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    if (text.size() < form.size()) return false;
    return std::equal(form.begin(), form.end(), text.begin(),
                      [](char wanted, char c) { return wanted == '-' ? c == '-' : is_hex(c); });
  }

  std::string without_uuids(std::string_view text) {
    constexpr std::size_t size = 36;
    std::string out;
    while (!text.empty()) {
      if (begins_with_uuid(text) && (out.empty() || !is_hex(out.back()))) {
        out += same_form(text.substr(0, size));
        text.remove_prefix(size);
      } else {
        out += text.front();
        text.remove_prefix(1);
      }
    }
    return out;
  }

  /// A hash with hexadecimal digits in the places of letters and digits. No other value has the
  /// same, unless a short form has too few.
  std::string same_form(std::string_view value) {
    constexpr int max_tries = 1000;
    std::string out{value};
    for (int tries = 0; tries < max_tries; ++tries) {
      const auto hash = digits(fmt::format("{}{}", tries, value));
      std::size_t at = 0;
      for (char& c : out) {
        if (is_letter(c) || tools::is_digit(c)) c = hash[at++ % hash.size()];
      }
      const auto known = owners_.try_emplace(out, digits(value)).first;
      if (known->second == digits(value)) break;
    }
    return out;
  }

  /// The hash of an attribute. A number stays a number, and a number that means none is unchanged.
  std::string identifier(const std::string& text) {
    const auto value = tools::trim(text);
    if (value.find_first_not_of("0x- ") == value.npos) return text;
    const auto hash =
        is_plain_number(value)
            ? fmt::format("{:0{}x}", number(*tools::parse_number<std::uint64_t>(value, 16)),
                          value.size())
            : same_form(value);
    return hash + text.substr(static_cast<std::size_t>(value.data() - text.data()) + value.size());
  }

  static bool is_plain_number(std::string_view value) {
    return !value.starts_with("0x") && tools::parse_number<std::uint64_t>(value, 16);
  }

  /// Replaces the numbers of AMD's topology that identify a GPU and its fabric.
  std::string without_numbers(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const auto row = text.substr(0, text.find('\n'));
      const auto parts = tools::split(row, " ");
      const bool is_id = parts.size() == 2 && (parts[0] == "unique_id" || parts[0] == "hive_id");
      const auto value = is_id ? tools::parse_number<std::uint64_t>(parts[1]) : std::nullopt;
      out +=
          value && *value != 0 ? fmt::format("{} {}", parts[0], number(*value)) : std::string{row};
      text.remove_prefix(row.size());
      if (text.starts_with('\n')) {
        out += '\n';
        text.remove_prefix(1);
      }
    }
    return out;
  }

  std::string key_;
  std::map<std::string, std::string> owners_{};  // hashes, by the text that replaces the values
};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_RECORD_HASHED_NAMES_HPP
