// Reads the owner and options that cdi-prepare records in its specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "recorded_options.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/model/fields.hpp>
#include <cdi/rules/annotation_key.hpp>

#include "../base/text.hpp"

namespace tools {

namespace {

static_assert(cdi::is_annotation_key(options_annotation));

static_assert(options_comment.substr(2, options_annotation.size()) == options_annotation);

/// The path that `encoded_path` encoded. A percent sign without two digits stands for itself.
std::string decoded_path(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' && i + 2 < text.size()
                          ? parse_number<unsigned>(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    if (!byte || *byte == 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

constexpr std::string_view hex_digits = "0123456789ABCDEF";

/// Whether a byte stands for itself in a recorded path of a vendor file.
bool is_kept(char c) {
  return c > ' ' && is_plain(c) && c != '%' && c != ':';
}

std::string_view separator_of(std::string_view option) {
  return option == "device" ? "," : ":";
}

bool is_profile(std::string_view value) {
  return std::find(profile_names.begin(), profile_names.end(), value) != profile_names.end();
}

bool is_version(std::string_view value) {
  const auto version = cdi::parse_spec_version(value);
  return version && *version >= cdi::SpecVersion{0, 3, 0} && cdi::to_string(*version) == value;
}

bool is_kind(std::string_view value) {
  return cdi::parse_kind(value).has_value();
}

bool is_hooks(std::string_view value) {
  return value == "none" || value == "nvidia";
}

bool is_numbers(std::string_view value) {
  return value == "asked" || value == "given";
}

/// Which values of an option are recorded; for a list, which items.
struct ValueRule {
  std::string_view option;
  bool (*is_valid)(std::string_view value);
};

constexpr ValueRule value_rules[] = {
    {"profile", is_profile},           {"hooks", is_hooks},
    {"node-numbers", is_numbers},      {"max-version", is_version},
    {"vendor-file", is_recorded_path}, {"kind", is_kind},
    {"device", is_recorded_device},    {"driver-root", is_recorded_path},
    {"dev-root", is_recorded_path},    {"library-search-path", is_recorded_path},
};

bool is_valid(std::string_view option, std::string_view value) {
  return std::any_of(std::begin(value_rules), std::end(value_rules), [&](const ValueRule& rule) {
    return rule.option == option && rule.is_valid(value);
  });
}

// Sets an option to a recorded value, which begins with an equals sign. Returns whether it is
// valid.

bool set(bool& out, std::string_view, std::string_view value) {
  return out = value.empty();
}

bool set(std::string& out, std::string_view option, std::string_view value) {
  if (!value.starts_with('=') || !is_valid(option, value.substr(1))) return false;
  out = value.substr(1);
  return true;
}

bool set(std::vector<std::string>& out, std::string_view option, std::string_view value) {
  if (!value.starts_with('=')) return false;
  auto items = split(value.substr(1), separator_of(option));
  const bool good = !items.empty() && std::all_of(items.begin(), items.end(), [&](const auto& one) {
    return is_valid(option, one);
  });
  if (option == "vendor-file") {
    for (auto& path : items) path = decoded_path(path);
  }
  if (good) out = std::move(items);
  return good;
}

/// The path of a vendor file as a part of a word: other bytes are written as in `%20`.
std::string encoded_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (is_kept(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append("%").append(1, hex_digits[byte / 16]);
    out.append(1, hex_digits[byte % 16]);
  }
  return out;
}

}  // namespace

std::string_view options_in_comment(const cdi::LoadedSpec& loaded, std::string_view text) {
  if (loaded.owner_comment != spec_owner) return {};
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find_first_of("\r\n"));
  return text.starts_with(options_comment) ? text.substr(options_comment.size()) : "";
}

bool is_recorded_path(std::string_view path) {
  return path.starts_with('/') && is_plain(path) && path.find_first_of(" :") == path.npos;
}

bool is_recorded_device(std::string_view name) {
  return cdi::is_device_name(name) || cdi::parse_name(name);
}

std::vector<std::string> option_words(const WriteOptions& options) {
  std::vector<std::string> words;
  cdi::every_field<WriteOptions>([&](const auto& field) {
    const auto& value = options.*field.member;
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      if (value) words.emplace_back(field.key);
    } else if (!value.empty()) {
      auto& word = words.emplace_back(field.key).append("=");
      if constexpr (std::is_same_v<Value, std::string>) {
        word += value;
      } else {
        word += fmt::format("{}", fmt::join(value, separator_of(field.key)));
      }
    }
    return true;
  });
  return words;
}

std::string options_text(WriteOptions options) {
  options.format.clear();
  for (auto& path : options.vendor_files) path = encoded_path(path);
  return fmt::format("{}", fmt::join(option_words(options), " "));
}

std::optional<WriteOptions> options_in(std::string_view text) {
  WriteOptions out;
  std::set<std::string_view> names;
  for (const auto& word : split(text, " ")) {
    const auto name = std::string_view{word}.substr(0, word.find('='));
    cdi::every_field<WriteOptions>([&](const auto& field) {
      if (field.key != name) return true;
      const bool good =
          !names.contains(field.key) && set(out.*field.member, name, word.substr(name.size()));
      if (good) names.insert(field.key);
      return false;
    });
  }
  return names.empty() ? std::nullopt : std::optional{std::move(out)};
}

std::optional<WriteOptions> recorded_options(const cdi::Spec& spec) {
  const auto recorded = spec.annotations.find(options_annotation);
  return recorded == spec.annotations.end() ? std::nullopt : options_in(recorded->second);
}

std::optional<WriteOptions> recorded_options(const cdi::LoadedSpec& loaded, std::string_view text) {
  auto options = recorded_options(loaded.spec);
  return options ? options : options_in(options_in_comment(loaded, text));
}

}  // namespace tools
