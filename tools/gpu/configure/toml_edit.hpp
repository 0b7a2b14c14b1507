// Changes settings in the text of a TOML file, so that they can be undone.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CONFIGURE_TOML_EDIT_HPP
#define CDI_TOOLS_GPU_CONFIGURE_TOML_EDIT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/engines/toml_settings.hpp"
#include "file_edit.hpp"

// Only lines are added, with a mark at their end, and old settings become comments, so that the
// rest of the file keeps its bytes (toml_undo.hpp). The result is parsed: in a file whose form is
// not expected, nothing changes.

namespace prepare::configure {

/// How the mark of a line that was added begins.
inline constexpr std::string_view added_mark = "# added by cdi-prepare configure [";

/// A line that is added, with its mark. The number is that of its text: if a person changes the
/// line, it is no longer ours.
inline std::string marked_line(std::string_view text) {
  std::uint32_t number = 2'166'136'261;  // FNV-1a
  for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 16'777'619;
  return fmt::format("{}  {}{:08x}]\n", text, added_mark, number);
}

/// The mark of a line that became a comment.
inline constexpr std::string_view replaced_mark = "# replaced by cdi-prepare configure: ";

/// A setting, and its value as TOML.
struct Setting {
  tools::TomlKey table{};  // empty: at the top of the file
  std::string name{};
  std::string value{};

  tools::TomlKey key() const {
    auto key = table;
    key.push_back(name);
    return key;
  }
};

/// A list of texts as TOML.
inline std::string toml_list(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const auto& item : items) {
    std::string text;
    for (const char c : item) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    quoted.push_back("\"" + text + "\"");
  }
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

/// The header of a table.
inline std::string toml_header(const tools::TomlKey& table) {
  std::vector<std::string> parts;
  for (const auto& part : table) {
    const bool plain = part.find('.') == std::string::npos;
    parts.push_back(plain ? part : "\"" + part + "\"");
  }
  return fmt::format("[{}]", fmt::join(parts, "."));
}

namespace detail {

using Lines = std::vector<std::string>;

inline Lines to_lines(std::string_view text) {
  Lines out;
  for (const auto line : lines_of(text)) out.emplace_back(line);
  if (!out.empty() && !out.back().ends_with('\n')) out.back() += '\n';
  return out;
}

inline std::string to_text(const Lines& lines) {
  return fmt::format("{}", fmt::join(lines, ""));
}

inline bool is_header(std::string_view line) {
  return tools::trim(line).starts_with('[');
}

/// Whether a line is the header of a table, in any spelling.
inline bool is_header_of(std::string_view line, const tools::TomlKey& table) {
  if (!is_header(line)) return false;
  const auto alone = tools::parse_toml(line, {});
  return alone && alone->is_only_table(table);
}

inline std::string indentation(std::string_view line) {
  return std::string{line.substr(0, line.find_first_not_of(" \t"))};
}

/// The line before which the settings of a table begin; nullopt if the table has no header.
inline std::optional<std::size_t> begin_of(const Lines& lines, const tools::TomlKey& table) {
  if (table.empty()) return 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_header_of(lines[i], table)) return i + 1;
  }
  return std::nullopt;
}

/// Turns the lines of an old value into comments; returns where the new value belongs.
inline std::size_t comment_out(Lines& lines, const tools::TomlLines& old) {
  for (auto i = old.first; i <= old.last; ++i) lines[i].insert(0, replaced_mark);
  return old.last + 1;
}

/// Sets one setting, whether or not the result is what was meant.
inline void set(Lines& lines, const tools::TomlSettings& settings, const Setting& setting) {
  const auto at = [&](std::size_t line) {
    return lines.begin() + static_cast<std::ptrdiff_t>(line);
  };
  const auto line = marked_line(fmt::format("{} = {}", setting.name, setting.value));
  const auto old = settings.lines_of(setting.key());
  if (old && old->last < lines.size()) {
    const auto indent = indentation(lines[old->first]);
    lines.insert(at(comment_out(lines, *old)), indent + line);
    return;
  }
  if (const auto begin = begin_of(lines, setting.table)) {
    const auto indent = *begin == 0 ? std::string{} : indentation(lines[*begin - 1]);
    lines.insert(at(*begin), indent + line);
    return;
  }
  lines.push_back(marked_line(toml_header(setting.table)));
  lines.push_back(line);
}

}  // namespace detail

/// Changes settings in the text of a file. Fails if the file is not valid, or if its form does not
/// permit it.
inline cdi::Result<std::string> with_settings(const std::string& text, const std::string& path,
                                              const std::vector<Setting>& wanted) {
  auto now = text;
  for (const auto& setting : wanted) {
    const auto before = tools::parse_toml(now, path);
    if (!before) return before.error();
    auto lines = detail::to_lines(now);
    detail::set(lines, *before, setting);
    now = detail::to_text(lines);
    if (!text.empty() && !text.ends_with('\n')) now.pop_back();  // so that undo restores the bytes
    const auto after = tools::parse_toml(now, path);
    const auto alone =
        tools::parse_toml((setting.table.empty() ? "" : toml_header(setting.table) + "\n") +
                              fmt::format("{} = {}", setting.name, setting.value),
                          path);
    const bool good = after && alone && after->has_same(setting.key(), *alone) &&
                      after->equals_without(setting.key(), *before);
    if (good) continue;
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = fmt::format(
                          "the form of the file does not permit to change {}: "
                          "set {} = {} in {} by hand",
                          setting.name, setting.name, setting.value,
                          setting.table.empty() ? "its first lines" : toml_header(setting.table)),
                      .position = {.file = path}};
  }
  return now;
}

}  // namespace prepare::configure

#endif  // CDI_TOOLS_GPU_CONFIGURE_TOML_EDIT_HPP
