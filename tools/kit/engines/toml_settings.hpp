// Settings in the TOML configuration of a container engine.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "../base/toml.hpp"

namespace tools {

/// The names of tables, outermost first, and the name of the setting.
using TomlKey = std::vector<std::string>;

/// A list of strings.
struct TomlList {
  std::vector<std::string> items{};
  bool append = false;  // with `{append=true}`: to the list from other files
};

/// The settings in a file.
class TomlSettings {
 public:
  TomlSettings() = default;
  explicit TomlSettings(toml::table table) : table_{std::move(table)} {}

  bool has(const TomlKey& key) const { return bool{find(key)}; }

  /// The value of a boolean setting; nullopt if it is missing or of another type.
  std::optional<bool> truth(const TomlKey& key) const { return find(key).value_exact<bool>(); }

  /// The value of a text setting.
  std::optional<std::string> text(const TomlKey& key) const {
    return find(key).value_exact<std::string>();
  }

  /// The value of an integer setting.
  std::optional<std::int64_t> number(const TomlKey& key) const {
    return find(key).value_exact<std::int64_t>();
  }

  /// The value of a string list setting.
  std::optional<TomlList> list(const TomlKey& key) const {
    const auto* const array = find(key).as_array();
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

  /// The keys of all settings with this name, in any table.
  std::vector<TomlKey> keys_named(std::string_view name) const {
    std::vector<TomlKey> keys;
    TomlKey place;
    add_keys(table_, name, place, keys);
    return keys;
  }

 private:
  toml::node_view<const toml::node> find(const TomlKey& key) const {
    const toml::node& root = table_;
    toml::node_view<const toml::node> at{root};
    for (const auto& name : key) at = at[name];
    return at;
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

/// Parses a file. `path` is for messages, which contain the line and column of an error.
inline cdi::Result<TomlSettings> parse_toml(std::string_view text, std::string_view path) {
  auto table = toml_table(text, path);
  return table ? cdi::Result{TomlSettings{*std::move(table)}} : table.error();
}

}  // namespace tools
