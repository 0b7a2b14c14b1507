// The apparent contents of a rejected spec file: its kind, its devices and the version it needs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_REJECTED_CONTENTS_HPP
#define CDI_FILES_REJECTED_CONTENTS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns a device's name, ignoring the case of its key; empty if the device has no name.
inline std::string name_of_device(const Document::Value& item) {
  const auto name = detail::find_member(item, "name");
  return std::string{name ? name->text() : std::string_view{}};
}

/// Returns the next position of a key in any case, or `npos`. `key` must be in lower case.
inline std::size_t find_key(std::string_view text, std::string_view key, std::size_t from) {
  for (; from + key.size() <= text.size(); ++from) {
    std::size_t size = 0;
    while (size < key.size() && ascii_lower(text[from + size]) == key[size]) ++size;
    if (size == key.size()) return from;
  }
  return text.npos;
}

/// Finds `KEY: VALUE` and `"KEY": "VALUE"` in a text that need be neither YAML nor JSON, and calls
/// `take(value)` until it returns false. `key` must be in lower case. Costs one pass over the text:
/// a value ends where a key may begin.
template <class Take>
void scan_pairs(std::string_view text, std::string_view key, Take&& take) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::string_view quotes = "\"'";
  constexpr std::string_view before_key = " \t\r\n\"'{,";
  constexpr std::string_view after_value = " \t\r\n\"'{,}]#";
  for (auto at = find_key(text, key, 0); at != text.npos; at = find_key(text, key, at + 1)) {
    const bool begins = at == 0 || before_key.find(text[at - 1]) != text.npos;
    std::string_view rest = text.substr(at + key.size());
    const auto skip = [&](std::string_view characters) {
      const auto size = rest.find_first_not_of(characters);
      rest.remove_prefix(size == rest.npos ? rest.size() : size);
    };
    skip(quotes);
    skip(blanks);
    if (!begins || !rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    skip(" \t");
    skip(quotes);
    if (!take(rest.substr(0, rest.find_first_of(after_value)))) return;
  }
}

/// Returns the version that a text states if it is newer than every version this library knows, or
/// an empty string. The result contains only digits and dots, whatever the text contains.
inline std::string newer_version(std::string_view text) {
  constexpr SpecVersion now = current_version;
  constexpr std::uint32_t known[] = {now.major, now.minor, now.patch};
  std::uint32_t numbers[3] = {};
  if (text.starts_with('v')) text.remove_prefix(1);
  for (std::uint32_t& number : numbers) {
    if (&number != numbers && text.starts_with('.')) text.remove_prefix(1);
    if (!take_number(text, number)) return {};
    if (text.empty()) break;
  }
  std::size_t same = 0;
  while (same < 3 && numbers[same] == known[same]) ++same;
  if (!text.empty() || same == 3 || numbers[same] < known[same]) return {};
  return std::to_string(numbers[0]) + "." + std::to_string(numbers[1]) + "." +
         std::to_string(numbers[2]);
}

/// A rejected file with more devices, or with longer names, is assumed to define any device. A file
/// with more invalid devices than this is rejected as a whole.
inline constexpr std::size_t max_named_devices = 1000;
inline constexpr std::size_t max_named_bytes = std::size_t{4} << 20;  // of their qualified names

/// Forgets the devices of a file if there are too many, or if they repeat a long kind too often.
inline void limit_devices(RejectedFile& file) {
  const std::uint64_t count = file.devices.size();  // so that the product fits
  if (count > max_named_devices || count * file.kind.size() > max_named_bytes) file.devices.clear();
}

/// Records the kind, the devices and the required version that a rejected file states.
inline void record_contents(const Document& document, RejectedFile& file) {
  const auto text_of = [&](std::string_view member) {
    const auto value = detail::find_member(document.root(), member);
    return value ? value->text() : std::string_view{};
  };
  if (parse_kind(text_of("kind"))) file.kind = text_of("kind");
  if (file.needs_version.empty()) file.needs_version = newer_version(text_of("cdiVersion"));
  const auto devices = detail::find_member(document.root(), "devices");
  if (!devices || devices->size() > max_named_devices) return;
  for (const auto item : devices->items()) {
    auto name = detail::name_of_device(item);
    if (is_device_name(name)) file.devices.push_back(std::move(name));
  }
  detail::limit_devices(file);
}

/// Guesses what a text that is neither JSON nor YAML states, and records the guess in `file`.
inline void guess_contents(std::string_view text, RejectedFile& file) {
  if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
  detail::scan_pairs(text, "kind", [&](std::string_view value) {
    if (parse_kind(value)) file.kind = value;
    return file.kind.empty();
  });
  detail::scan_pairs(text, "name", [&](std::string_view value) {
    if (is_device_name(value)) file.devices.emplace_back(value);
    return file.devices.size() <= max_named_devices;
  });
  detail::limit_devices(file);
  detail::scan_pairs(text, "cdiversion", [&](std::string_view value) {
    if (file.needs_version.empty()) file.needs_version = detail::newer_version(value);
    return false;
  });
}

}  // namespace cdi::detail

#endif  // CDI_FILES_REJECTED_CONTENTS_HPP
