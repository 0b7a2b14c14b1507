// The valid parts of an invalid spec file: its kind and its good devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SALVAGE_HPP
#define CDI_FILES_SALVAGE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Where a key, given in lower case, stands next in a text, in any case; `npos` when nowhere.
inline std::size_t find_key(std::string_view text, std::string_view key, std::size_t from) {
  for (; from + key.size() <= text.size(); ++from) {
    std::size_t size = 0;
    while (size < key.size() && ascii_lower(text[from + size]) == key[size]) ++size;
    if (size == key.size()) return from;
  }
  return text.npos;
}

/// Finds `KEY: VALUE` and `"KEY": "VALUE"` in a text that need be neither YAML nor JSON, and calls
/// `take(value)` until it answers false. The key is given in lower case. Costs one pass: where a
/// key may begin, the value before it ends.
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

/// The release that a text names, when it is newer than all that this library knows; else nothing.
/// Digits and dots only, whatever the text is.
inline std::string newer_release(std::string_view text) {
  constexpr Release now = current_release;
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

/// The value of a member, in any case of the key.
inline std::optional<Document::Value> find_member(const Document::Value& map,
                                                  std::string_view name) {
  for (const auto [key, value] : map.members()) {
    if (same_key(key.text(), name)) return value;
  }
  return std::nullopt;
}

inline std::string name_of_device(const Document::Value& item) {
  const auto name = detail::find_member(item, "name");
  return std::string{name ? name->text() : std::string_view{}};
}

inline constexpr std::size_t most_told = 1000;  // devices; a file of more is taken to have any

/// Tells what a rejected file is about.
inline void tell_contents(const Document& document, RejectedFile& file) {
  const auto text_of = [&](std::string_view member) {
    const auto value = detail::find_member(document.root(), member);
    return value ? value->text() : std::string_view{};
  };
  if (parse_kind(text_of("kind"))) file.kind = text_of("kind");
  if (file.needs_version.empty()) file.needs_version = newer_release(text_of("cdiVersion"));
  const auto devices = detail::find_member(document.root(), "devices");
  if (!devices || devices->size() > most_told) return;
  for (const auto item : devices->items()) {
    auto name = detail::name_of_device(item);
    if (is_device_name(name)) file.devices.push_back(std::move(name));
  }
}

/// The same of a text that is neither JSON nor YAML, as far as it can be guessed.
inline void tell_contents(std::string_view text, RejectedFile& file) {
  if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
  detail::scan_pairs(text, "kind", [&](std::string_view value) {
    if (parse_kind(value)) file.kind = value;
    return file.kind.empty();
  });
  detail::scan_pairs(text, "name", [&](std::string_view value) {
    if (is_device_name(value)) file.devices.emplace_back(value);
    return file.devices.size() <= most_told;
  });
  if (file.devices.size() > most_told) file.devices.clear();
  detail::scan_pairs(text, "cdiversion", [&](std::string_view value) {
    if (file.needs_version.empty()) file.needs_version = detail::newer_release(value);
    return false;
  });
}

/// What is wrong with one device of a spec that declares `version`, seen from the device; nothing
/// when it is valid on its own.
inline std::optional<Error> device_fault(const Document::Value& item, std::string_view version) {
  auto device = cdi::read<Device>(item);
  if (!device) return std::move(device).error();
  Spec alone{.version = std::string{version}, .kind = "a/b"};
  if (!parse_release(version)) alone.version = to_string(current_release);  // not its fault
  alone.devices.push_back(std::move(*device));
  auto valid = cdi::validate(alone);
  if (valid) return std::nullopt;
  Error& error = valid.error();
  if (error.rule == row_of(Rule::version_new_enough).code) {
    const auto need = minimum_need(alone);
    error.where = need.where;
    error.message = "version " + detail::quoted(version) + " is too old for it: write \"" +
                    to_string(need.release) + "\"";
  }
  constexpr std::string_view outer = "devices[0]";
  if (error.where.starts_with(outer)) error.where.erase(0, outer.size());
  if (error.where.starts_with('.')) error.where.erase(0, 1);
  std::string_view path = error.where;
  Document::Value at = item;
  while (!path.empty() && detail::descend(at, path)) continue;
  error.position = at.position();
  return std::move(error);
}

/// Of the names, each whether another is the same.
inline std::vector<bool> which_repeat(const std::vector<std::string>& names) {
  const auto order =
      order_of(names.size(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::vector<bool> repeated(names.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (names[order[i]] != names[order[i - 1]]) continue;
    repeated[order[i]] = true;
    repeated[order[i - 1]] = true;
  }
  return repeated;
}

/// A copy of a spec's document without the devices that are not valid, and those whose name is
/// given twice; what is wrong with each goes to `out`. Nothing when no device is left, none has a
/// fault, or more than `most_told` have one.
inline std::optional<Document> leave_bad_devices_out(const Document& document,
                                                     std::vector<QuarantinedDevice>& out) {
  const auto devices = detail::find_member(document.root(), "devices");
  const auto version = detail::find_member(document.root(), "cdiVersion");
  if (!devices || devices->kind() != Document::Kind::list) return std::nullopt;
  std::vector<std::string> names;
  for (const auto item : devices->items()) names.push_back(detail::name_of_device(item));
  const auto repeated = detail::which_repeat(names);
  std::vector<bool> bad;
  for (const auto item : devices->items()) {
    const auto index = bad.size();
    auto fault = detail::device_fault(item, version ? version->text() : std::string_view{});
    if (!fault && repeated[index]) {
      fault = Error{.code = Errc::invalid,
                    .message = "device " + detail::quoted(names[index]) +
                               " is defined more than once: choose another name",
                    .where = "name",
                    .position = item.position(),
                    .rule = row_of(Rule::device_name_unique).code};
    }
    bad.push_back(fault.has_value());
    if (!fault) continue;
    fault->add_outer(detail::item_path("devices", index));
    out.push_back({std::move(names[index]), std::move(*fault)});
  }
  if (out.empty() || out.size() == bad.size() || out.size() > most_told) return std::nullopt;
  return document.without(*devices, bad);
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_SALVAGE_HPP
