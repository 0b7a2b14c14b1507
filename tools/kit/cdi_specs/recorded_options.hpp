// Reads the owner and options that cdi-prepare records in its specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP
#define CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/minimum_version.hpp>
#include <cdi/model/fields.hpp>
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

/// The options that determine the content of specs: those of a command line, of the settings file,
/// or of the run that has written a spec.
struct WriteOptions {
  std::string profile = "all";
  std::string hooks = "none";
  std::string node_numbers = "auto";
  bool ld_library_path = false;
  std::string max_version_text{};
  bool nvml = false;
  bool visible_only = false;
  std::vector<std::string> vendor_files{};  // besides those in the host's directory
  std::string kind{};                       // the only kind, or its new name; empty: all kinds
  std::vector<std::string> devices{};       // the names of the GPUs to use; empty: all
  std::string driver_root{};                // on the host: where the driver is installed; empty: /
  std::string dev_root{};  // on the host: the directory with the `dev` of the nodes; empty: the
                           // driver's, if it has nodes, and otherwise /
  std::vector<std::string> library_dirs{};  // below the driver root; searched first
  bool no_all = false;                      // no device `all`
  std::string format = "yaml";              // of spec files, or "json"; the file's name records it

  /// In the order in which they are recorded.
  static constexpr void fields(auto& list) {
    list("profile", &WriteOptions::profile);
    list("hooks", &WriteOptions::hooks);
    list("node-numbers", &WriteOptions::node_numbers);
    list("ld-library-path", &WriteOptions::ld_library_path);
    list("max-version", &WriteOptions::max_version_text);
    list("nvml", &WriteOptions::nvml);
    list("visible-only", &WriteOptions::visible_only);
    list("vendor-file", &WriteOptions::vendor_files);
    list("kind", &WriteOptions::kind);
    list("device", &WriteOptions::devices);
    list("driver-root", &WriteOptions::driver_root);
    list("dev-root", &WriteOptions::dev_root);
    list("library-search-path", &WriteOptions::library_dirs);
    list("no-all", &WriteOptions::no_all);
    list("format", &WriteOptions::format);
  }
};

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

inline bool is_hooks(std::string_view value) {
  return value == "none" || value == "nvidia";
}

inline bool is_numbers(std::string_view value) {
  return value == "asked" || value == "given";
}

/// Which values of an option are recorded; for a list, which items.
struct Rule {
  std::string_view option;
  bool (*is_valid)(std::string_view value);
};

inline constexpr Rule rules[] = {
    {"profile", is_profile},           {"hooks", is_hooks},
    {"node-numbers", is_numbers},      {"max-version", is_version},
    {"vendor-file", is_recorded_path}, {"kind", is_kind},
    {"device", is_recorded_device},    {"driver-root", is_recorded_path},
    {"dev-root", is_recorded_path},    {"library-search-path", is_recorded_path},
};

inline bool is_valid(std::string_view option, std::string_view value) {
  return std::any_of(std::begin(rules), std::end(rules), [&](const Rule& rule) {
    return rule.option == option && rule.is_valid(value);
  });
}

inline std::string_view separator_of(std::string_view option) {
  return option == "device" ? "," : ":";
}

// Sets an option to a recorded value, which begins with an equals sign. Returns whether it is
// valid.

inline bool set(bool& out, std::string_view, std::string_view value) {
  return out = value.empty();
}

inline bool set(std::string& out, std::string_view option, std::string_view value) {
  if (!value.starts_with('=') || !is_valid(option, value.substr(1))) return false;
  out = value.substr(1);
  return true;
}

inline bool set(std::vector<std::string>& out, std::string_view option, std::string_view value) {
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

}  // namespace recorded

/// The words that record options, such as `profile=all`. Absent options have none.
inline std::vector<std::string> option_words(const WriteOptions& options) {
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
        word += fmt::format("{}", fmt::join(value, recorded::separator_of(field.key)));
      }
    }
    return true;
  });
  return words;
}

/// The text that records options in a spec.
inline std::string options_text(WriteOptions options) {
  options.format.clear();
  for (auto& path : options.vendor_files) path = encoded_path(path);
  return fmt::format("{}", fmt::join(option_words(options), " "));
}

/// The options that a text records; nullopt if there are none. Unknown words, which only another
/// program can have written, and repeated options are left out.
inline std::optional<WriteOptions> options_in(std::string_view text) {
  WriteOptions out;
  std::set<std::string_view> names;
  for (const auto& word : split(text, " ")) {
    const auto name = std::string_view{word}.substr(0, word.find('='));
    cdi::every_field<WriteOptions>([&](const auto& field) {
      if (field.key != name) return true;
      const bool good = !names.contains(field.key) &&
                        recorded::set(out.*field.member, name, word.substr(name.size()));
      if (good) names.insert(field.key);
      return false;
    });
  }
  return names.empty() ? std::nullopt : std::optional{std::move(out)};
}

/// The options in the annotation of a spec.
inline std::optional<WriteOptions> recorded_options(const cdi::Spec& spec) {
  const auto recorded = spec.annotations.find(options_annotation);
  return recorded == spec.annotations.end() ? std::nullopt : options_in(recorded->second);
}

/// The options in the annotation of one of our specs, or in the comment in its text.
inline std::optional<WriteOptions> recorded_options(const cdi::LoadedSpec& loaded,
                                                    std::string_view text) {
  auto options = recorded_options(loaded.spec);
  return options ? options : options_in(options_in_comment(loaded, text));
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_CDI_SPECS_RECORDED_OPTIONS_HPP
