// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_TOML_SETTINGS_HPP
#define CDI_PREPARE_TOML_SETTINGS_HPP

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host_tree.hpp"

// As much of TOML as it takes to find a setting in the configuration of a container engine.

namespace prepare {

/// The names of tables from the outermost in, and that of the setting.
using TomlKey = std::vector<std::string>;

/// A list of texts.
struct TomlList {
  std::vector<std::string> items{};
  bool append = false;  // to what other files say, by `{append=true}` in it
};

/// The settings of a file.
struct TomlSettings {
  std::map<TomlKey, std::string> values{};  // as written, without comments
  bool is_whole = true;                     // else something in the file was not understood

  /// The value of a setting as written; null when there is none.
  const std::string* find(const TomlKey& key) const {
    const auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }
};

namespace detail {

/// Reads from the front of a text.
class TomlReader {
 public:
  explicit TomlReader(std::string_view text) : rest_{text} {}

  TomlSettings read_settings() {
    TomlSettings settings;
    for (skip_blank(); !rest_.empty(); skip_blank()) {
      if (at("[") ? read_header() : read_setting(settings)) continue;
      settings.is_whole = false;
      skip_line();
    }
    return settings;
  }

  /// A whole list; none when there is anything else.
  std::optional<TomlList> read_list() {
    TomlList list;
    if (!take("[")) return std::nullopt;
    for (;;) {
      skip_blank();
      if (take("]")) return list;
      if (take(",")) continue;
      if (at("{")) {
        const auto end = rest_.find('}');
        if (end == std::string_view::npos) return std::nullopt;
        list.append = is_append(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        continue;
      }
      auto item = read_string();
      if (!item) return std::nullopt;
      list.items.push_back(std::move(*item));
    }
  }

 private:
  bool at(std::string_view what) const { return rest_.starts_with(what); }

  bool take(std::string_view what) {
    if (!at(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  void skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }

  void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

  /// White space, ends of lines and comments.
  void skip_blank() {
    for (skip(" \t\r\n"); at("#"); skip(" \t\r\n")) skip_line();
  }

  static bool is_append(std::string_view table) {
    const auto parts = split(table, " \t=");
    return parts == std::vector<std::string>{"append", "true"};
  }

  /// `[a."b.c".d]`, or `[[a]]`
  bool read_header() {
    const bool is_list = take("[[");
    if (!is_list) take("[");
    auto key = read_key();
    if (!key || !take(is_list ? "]]" : "]")) return false;
    table_ = std::move(*key);
    return true;
  }

  /// `a."b.c" = VALUE`
  bool read_setting(TomlSettings& settings) {
    const auto key = read_key();
    if (!key || !take("=")) return false;
    skip(" \t");
    auto value = read_value();
    if (!value) return false;
    auto whole_key = table_;
    whole_key.insert(whole_key.end(), key->begin(), key->end());
    settings.values.insert_or_assign(std::move(whole_key), std::move(*value));
    return true;
  }

  std::optional<TomlKey> read_key() {
    TomlKey key;
    do {
      skip(" \t");
      auto part = at("\"") || at("'") ? read_string() : read_bare();
      if (!part) return std::nullopt;
      key.push_back(std::move(*part));
      skip(" \t");
    } while (take("."));
    return key;
  }

  std::optional<std::string> read_bare() {
    const auto end = std::find_if(rest_.begin(), rest_.end(), [](unsigned char c) {
      return std::isalnum(c) == 0 && c != '_' && c != '-';
    });
    std::string text{rest_.begin(), end};
    rest_.remove_prefix(text.size());
    if (text.empty()) return std::nullopt;
    return text;
  }

  /// A text in quotes, and the quotes.
  std::optional<std::string> read_string() {
    for (const std::string_view quotes : {"\"\"\"", "'''", "\"", "'"}) {
      if (take(quotes)) return read_string_to(quotes);
    }
    return std::nullopt;
  }

  /// The text before `quotes`. Of escapes, those that a path can need.
  std::optional<std::string> read_string_to(std::string_view quotes) {
    std::string text;
    while (!rest_.empty() && !take(quotes)) {
      if (at("\n") && quotes.size() == 1) return std::nullopt;
      if (quotes.front() == '"' && (at("\\\"") || at("\\\\"))) rest_.remove_prefix(1);
      text += rest_.front();
      rest_.remove_prefix(1);
      if (rest_.empty()) return std::nullopt;
    }
    return text;
  }

  /// A value to its end as written, which for a list may be some lines on.
  std::optional<std::string> read_value() {
    std::string value;
    for (std::size_t depth = 0; !rest_.empty() && (depth > 0 || !at("\n"));) {
      if (at("#")) {
        skip_line();
        continue;
      }
      const auto before = rest_;
      if (at("\"") || at("'")) {
        if (!read_string()) return std::nullopt;
      } else {
        if (at("[") || at("{")) ++depth;
        if ((at("]") || at("}")) && depth-- == 0) return std::nullopt;
        rest_.remove_prefix(1);
        if (rest_.empty() && depth > 0) return std::nullopt;
      }
      value.append(before.substr(0, before.size() - rest_.size()));
    }
    return std::string{trim(value)};
  }

  std::string_view rest_;
  TomlKey table_{};
};

}  // namespace detail

/// Reads a file; what is not understood of it is passed over.
inline TomlSettings parse_toml(std::string_view text) {
  return detail::TomlReader{text}.read_settings();
}

/// A value that is a list of texts.
inline std::optional<TomlList> toml_list(std::string_view value) {
  return detail::TomlReader{value}.read_list();
}

}  // namespace prepare

#endif  // CDI_PREPARE_TOML_SETTINGS_HPP
