// The owner and options that cdi-prepare records in its specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP
#define CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/registry.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/spec.hpp>

#include "../base/text.hpp"

namespace tools {

/// The owner recorded in the files of cdi-prepare.
inline constexpr const char* spec_owner = "cdi-prepare";

/// The annotation with the options that determine the content of a spec.
inline constexpr std::string_view options_annotation = "cdi-prepare/options";
static_assert(cdi::is_annotation_key(options_annotation));

/// The start of the second line of a YAML file whose version has no annotations, below the comment
/// with the owner.
inline constexpr std::string_view options_comment = "# cdi-prepare/options: ";
static_assert(options_comment.substr(2, options_annotation.size()) == options_annotation);

/// The options in the second line of the text of one of our files; empty if there are none, and for
/// other files.
inline std::string_view options_in_comment(const cdi::LoadedSpec& loaded, std::string_view text) {
  if (loaded.owner_comment != spec_owner) return {};
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find_first_of("\r\n"));
  return text.starts_with(options_comment) ? text.substr(options_comment.size()) : "";
}

/// The values of the option `--profile`.
inline constexpr std::array<std::string_view, 4> profile_names{"compute", "graphics", "video",
                                                               "all"};

/// The word that records a vendor file, without its path.
inline constexpr std::string_view vendor_file_word = "vendor-file=";

/// Whether a path can be recorded: words are separated by spaces, and paths in a list by colons.
/// Vendor files may have other paths, which are encoded.
inline bool is_recorded_path(std::string_view path) {
  return path.starts_with('/') && is_plain(path) && path.find_first_of(" :") == path.npos;
}

namespace recorded {

inline constexpr std::string_view hex_digits = "0123456789ABCDEF";

/// Whether a byte stands for itself in a recorded path of a vendor file.
inline bool is_kept(char c) {
  return c > ' ' && is_plain(c) && c != '%' && c != ':';
}

}  // namespace recorded

/// The path of a vendor file as a part of a word: other bytes are written as in `%20`.
inline std::string encoded_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (recorded::is_kept(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append("%").append(1, recorded::hex_digits[byte / 16]);
    out.append(1, recorded::hex_digits[byte % 16]);
  }
  return out;
}

/// The path that `encoded_path` encoded. A percent sign without two digits stands for itself.
inline std::string decoded_path(std::string_view text) {
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

/// Whether a text is a device name, with or without its kind.
inline bool is_recorded_device(std::string_view name) {
  return cdi::is_device_name(name) || cdi::parse_name(name);
}

namespace recorded {

inline bool is_profile(std::string_view value) {
  return std::find(profile_names.begin(), profile_names.end(), value) != profile_names.end();
}

inline bool is_version(std::string_view value) {
  const auto version = cdi::parse_spec_version(value);
  return version && *version >= cdi::SpecVersion{0, 3, 0} && cdi::to_string(*version) == value;
}

inline bool is_kind(std::string_view value) {
  return cdi::parse_kind(value).has_value();
}

/// Whether all parts of a list are valid.
template <bool (*is_valid)(std::string_view)>
bool is_list(std::string_view value, std::string_view separator) {
  const auto parts = split(value, separator);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(),
                                       [](const std::string& part) { return is_valid(part); });
}

inline bool are_devices(std::string_view value) {
  return is_list<is_recorded_device>(value, ",");
}

inline bool are_paths(std::string_view value) {
  return is_list<is_recorded_path>(value, ":");
}

/// A recorded option, and which values it has.
struct Option {
  std::string_view name;
  bool (*is_valid)(std::string_view value);
};

inline constexpr Option with_value[] = {
    {"profile=", is_profile},
    {"max-version=", is_version},
    {"kind=", is_kind},
    {"device=", are_devices},
    {"driver-root=", is_recorded_path},
    {"dev-root=", is_recorded_path},
    {"library-search-path=", are_paths},
    {vendor_file_word, is_recorded_path},
};

}  // namespace recorded

/// Whether cdi-prepare records such a word.
inline bool is_option_word(std::string_view word) {
  for (const auto known : {"hooks=none", "hooks=nvidia", "node-numbers=asked", "node-numbers=given",
                           "ld-library-path", "nvml", "visible-only", "no-all"}) {
    if (word == known) return true;
  }
  for (const auto& option : recorded::with_value) {
    if (word.starts_with(option.name)) return option.is_valid(word.substr(option.name.size()));
  }
  return false;
}

/// The option words in a text, such as `profile=all`. Unknown words, which only another program can
/// have written, and repeated options are left out.
inline std::vector<std::string> option_words(std::string_view text) {
  std::vector<std::string> words;
  std::set<std::string> names;
  for (auto& word : split(text, " ")) {
    if (!is_option_word(word) || !names.insert(word.substr(0, word.find('='))).second) continue;
    words.push_back(word.starts_with(vendor_file_word) ? decoded_path(word) : std::move(word));
  }
  return words;
}

/// The value of an option in recorded words; empty without such an option.
inline std::string option_value(const std::vector<std::string>& words, std::string_view option) {
  for (const std::string_view word : words) {
    const auto equals = word.find('=');
    if (equals != word.npos && word.substr(0, equals) == option) {
      return std::string{word.substr(equals + 1)};
    }
  }
  return {};
}

/// The option words in the annotation of a spec.
inline std::vector<std::string> recorded_options(const cdi::Spec& spec) {
  const auto recorded = spec.annotations.find(options_annotation);
  if (recorded == spec.annotations.end()) return {};
  return option_words(recorded->second);
}

/// The option words in the annotation of one of our specs, or in the comment in its text.
inline std::vector<std::string> recorded_options(const cdi::LoadedSpec& loaded,
                                                 std::string_view text) {
  auto words = recorded_options(loaded.spec);
  return words.empty() ? option_words(options_in_comment(loaded, text)) : words;
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP
