// Replaces what identifies a node in a recording: UUIDs and serial numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "hashed_names.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <optional>
#include <sys/random.h>

#include <fmt/format.h>

#include "../../kit/base/glob.hpp"
#include "../../kit/base/sha256.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/host/rooted_paths.hpp"

namespace prepare {

cdi::Result<HashedNames> HashedNames::make() {
  std::string key(32, '\0');
  const auto got = ::getrandom(key.data(), key.size(), 0);
  if (got != static_cast<ssize_t>(key.size())) {
    return tools::path_error("getrandom", got < 0 ? errno : EIO);
  }
  return HashedNames{std::move(key)};
}

RecordedFiles HashedNames::replace(const RecordedFiles& files) {
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

bool HashedNames::is_identifier(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const bool is_attribute = path.starts_with("/sys/") || path.starts_with("/proc/");
  return is_attribute && std::any_of(std::begin(identifiers), std::end(identifiers),
                                     [&](auto part) { return name.find(part) != name.npos; });
}

std::string HashedNames::digits(std::string_view value) const {
  std::string low{value};
  std::transform(low.begin(), low.end(), low.begin(), cdi::detail::ascii_lower);
  return tools::sha256(key_ + low).substr(std::string_view{"sha256:"}.size());
}

std::uint64_t HashedNames::number(std::uint64_t value) const {
  const auto hex = digits(fmt::format("{:016x}", value)).substr(0, 16);
  return tools::parse_number<std::uint64_t>(hex, 16).value_or(0) >> 1U;
}

bool HashedNames::is_letter(char c) {
  const char lower = cdi::detail::ascii_lower(c);
  return lower >= 'a' && lower <= 'z';
}

bool HashedNames::begins_with_uuid(std::string_view text) {
  constexpr std::string_view form = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  if (text.size() < form.size()) return false;
  return std::equal(form.begin(), form.end(), text.begin(),
                    [](char wanted, char c) { return wanted == '-' ? c == '-' : is_hex(c); });
}

std::string HashedNames::without_uuids(std::string_view text) {
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

std::string HashedNames::same_form(std::string_view value) {
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

std::string HashedNames::identifier(const std::string& text) {
  const auto value = tools::trim(text);
  if (value.find_first_not_of("0x- ") == value.npos) return text;
  const auto hash =
      is_plain_number(value)
          ? fmt::format("{:0{}x}", number(*tools::parse_number<std::uint64_t>(value, 16)),
                        value.size())
          : same_form(value);
  return hash + text.substr(static_cast<std::size_t>(value.data() - text.data()) + value.size());
}

bool HashedNames::is_plain_number(std::string_view value) {
  return !value.starts_with("0x") && tools::parse_number<std::uint64_t>(value, 16);
}

std::string HashedNames::without_numbers(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const auto row = text.substr(0, text.find('\n'));
    const auto parts = tools::split(row, " ");
    const bool is_id = parts.size() == 2 && (parts[0] == "unique_id" || parts[0] == "hive_id");
    const auto value = is_id ? tools::parse_number<std::uint64_t>(parts[1]) : std::nullopt;
    out += value && *value != 0 ? fmt::format("{} {}", parts[0], number(*value)) : std::string{row};
    text.remove_prefix(row.size());
    if (text.starts_with('\n')) {
      out += '\n';
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace prepare
