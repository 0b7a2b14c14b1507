// Settings in the TOML configuration of a container engine.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_ENGINES_TOML_SETTINGS_HPP
#define CDI_TOOLS_KIT_ENGINES_TOML_SETTINGS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

// The default limit is 256; nested values are destroyed recursively.
#define TOML_MAX_NESTED_VALUES 16
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Its assertions are wrong for some texts, such as `[[[`, and with NDEBUG the compiler may assume
// that they hold. The code after them rejects these texts.
#define TOML_ASSERT(condition) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

// Only this header includes toml++.

namespace tools {

/// The names of tables, outermost first, and the name of the setting.
using TomlKey = std::vector<std::string>;

/// A list of strings.
struct TomlList {
  std::vector<std::string> items{};
  bool append = false;  // with `{append=true}`: to the list from other files
};

/// The lines of a value, counted from 0.
struct TomlLines {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The settings in a file.
class TomlSettings {
 public:
  TomlSettings() = default;
  explicit TomlSettings(toml::table table) : table_{std::move(table)} {}

  /// All of the file, for readers that need the place of each value.
  const toml::table& table() const { return table_; }

  bool has(const TomlKey& key) const { return find(key) != nullptr; }

  /// The value of a boolean setting; nullopt if it is missing or of another type.
  std::optional<bool> truth(const TomlKey& key) const { return value<bool>(key); }

  /// The value of a text setting.
  std::optional<std::string> text(const TomlKey& key) const { return value<std::string>(key); }

  /// The value of an integer setting.
  std::optional<std::int64_t> number(const TomlKey& key) const { return value<std::int64_t>(key); }

  /// The value of a string list setting.
  std::optional<TomlList> list(const TomlKey& key) const {
    const auto* const node = find(key);
    const auto* const array = node == nullptr ? nullptr : node->as_array();
    if (array == nullptr) return std::nullopt;
    TomlList list;
    for (const auto& item : *array) {
      if (auto text = item.value_exact<std::string>()) {
        list.items.push_back(std::move(*text));
      } else if (const auto* const table = item.as_table()) {
        list.append = table->size() == 1 && (*table)["append"].value_exact<bool>().value_or(false);
      } else {
        return std::nullopt;
      }
    }
    return list;
  }

  /// The names of the settings in a table; none if there is no such table.
  std::vector<std::string> names_in(const TomlKey& key) const {
    std::vector<std::string> names;
    const auto* const node = find(key);
    const auto* const table = node == nullptr ? nullptr : node->as_table();
    if (table == nullptr) return names;
    for (const auto& [name, value] : *table) names.emplace_back(name.str());
    return names;
  }

  /// The keys of all settings with this name, in any table.
  std::vector<TomlKey> keys_named(std::string_view name) const {
    std::vector<TomlKey> keys;
    TomlKey place;
    add_keys(table_, name, place, keys);
    return keys;
  }

  /// The lines of a setting in the parsed text; nullopt if the setting is missing.
  std::optional<TomlLines> lines_of(const TomlKey& key) const {
    const auto* const node = find(key);
    if (node == nullptr || node->source().begin.line == 0) return std::nullopt;
    const auto& place = node->source();
    return TomlLines{place.begin.line - std::size_t{1}, place.end.line - std::size_t{1}};
  }

  /// The line and column of a setting's name; both are 0 if the setting is missing.
  cdi::Position position_of(const TomlKey& key) const {
    const auto* const outer = find({key.begin(), key.end() - 1});
    const auto* const table = outer == nullptr ? nullptr : outer->as_table();
    if (table == nullptr) return {};
    const auto found = table->find(key.back());
    if (found == table->end()) return {};
    const auto& begin = found->first.source().begin;
    return {.line = begin.line, .column = begin.column};
  }

 private:
  const toml::node* find(const TomlKey& key) const {
    const toml::node* at = &table_;
    for (const auto& name : key) {
      const auto* const table = at->as_table();
      at = table == nullptr ? nullptr : table->get(name);
      if (at == nullptr) return nullptr;
    }
    return at;
  }

  template <typename T>
  std::optional<T> value(const TomlKey& key) const {
    const auto* const node = find(key);
    return node == nullptr ? std::nullopt : node->value_exact<T>();
  }

  static void add_keys(const toml::table& table, std::string_view name, TomlKey& place,
                       std::vector<TomlKey>& keys) {
    for (const auto& [key, node] : table) {
      place.emplace_back(key.str());
      if (key.str() == name) keys.push_back(place);
      if (const auto* const inner = node.as_table()) add_keys(*inner, name, place, keys);
      place.pop_back();
    }
  }

  toml::table table_{};
};

namespace detail {

inline cdi::Error not_toml(std::string_view path, std::uint32_t line, std::uint32_t column,
                           std::string_view reason) {
  std::string message = "is not valid TOML, so its settings are unknown: ";
  message.append(reason);
  while (!cdi::detail::is_utf8(message)) message.pop_back();  // toml++ cuts a long one anywhere
  return {.code = cdi::Errc::syntax,
          .message = std::move(message),
          .position = {.file = std::string{path}, .line = line, .column = column}};
}

constexpr std::size_t max_dots = 128;

/// The place in a line of the first dot beyond `max_dots`; npos if there is none. Dots in comments
/// and strings count only with `all`.
inline std::size_t excess_dot(std::string_view line, bool all) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '.' && ++dots > max_dots) return i;
    if (all) continue;
    if (c == '#') break;
    if (c != '"' && c != '\'') continue;
    for (++i; i < line.size() && line[i] != c; ++i) {
      if (c == '"' && line[i] == '\\') ++i;
    }
  }
  return std::string_view::npos;
}

/// The error for the first line that may contain a key with too many parts, each of which is a
/// nested table: toml++ 3.3 does not limit them. From the first string of several lines on, all
/// dots count: what begins like a comment or a string may be inside or behind one.
inline cdi::Result<void> check_depth_of_keys(std::string_view text, std::string_view path) {
  const auto long_string = std::min(text.find("\"\"\""), text.find("'''"));
  std::size_t start = 0;
  for (std::uint32_t number = 1; start < text.size(); ++number) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto excess = excess_dot(text.substr(start, end - start), end > long_string);
    if (excess != std::string_view::npos) {
      return cdi::Error{.code = cdi::Errc::limit,
                        .message = "has a line with more than " + std::to_string(max_dots) +
                                   " dots, so its settings are unknown",
                        .advice = "shorten the key, or write the value on several lines",
                        .position = {.file = std::string{path},
                                     .line = number,
                                     .column = static_cast<std::uint32_t>(excess + 1)}};
    }
    start = end + 1;
  }
  return {};
}

}  // namespace detail

/// Parses a file. `path` is for messages, which contain the line and column of an error.
inline cdi::Result<TomlSettings> parse_toml(std::string_view text, std::string_view path) {
  if (auto shallow = detail::check_depth_of_keys(text, path); !shallow) return shallow.error();
  auto parsed = toml::parse(text, path);
  if (parsed) return TomlSettings{std::move(parsed).table()};
  const auto& begin = parsed.error().source().begin;
  return detail::not_toml(path, begin.line, begin.column, parsed.error().description());
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_ENGINES_TOML_SETTINGS_HPP
