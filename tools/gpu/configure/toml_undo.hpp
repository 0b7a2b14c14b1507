// Takes settings that were added out of the text of a TOML file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CONFIGURE_TOML_UNDO_HPP
#define CDI_TOOLS_GPU_CONFIGURE_TOML_UNDO_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/base/text.hpp"
#include "file_edit.hpp"
#include "toml_edit.hpp"

namespace prepare::configure {

/// A text without our settings, and those of our lines that stay, because a person changed them.
struct Undone {
  std::string text{};
  std::vector<std::string> kept{};
};

namespace detail {

/// Whose a line is.
enum class Writer : std::uint8_t {
  others,
  configure,  // added
  both,       // added, and then changed
};

/// A line of a file that was configured.
struct ConfiguredLine {
  std::string_view text{};  // without the mark of a replaced line
  Writer writer = Writer::others;
  bool is_replaced = false;

  explicit ConfiguredLine(std::string_view line) : text{line} {
    is_replaced = line.starts_with(replaced_mark);
    if (is_replaced) text.remove_prefix(replaced_mark.size());
    const auto mark = text.rfind(added_mark);
    if (mark == std::string_view::npos) return;
    const auto setting = tools::trim(text.substr(0, mark));
    const auto ours = marked_line(setting);
    const bool same = tools::trim(text) == tools::trim(ours);
    writer = same ? Writer::configure : Writer::both;
  }

  /// A changed line without its mark.
  std::string without_mark() const {
    auto line = std::string{text.substr(0, text.rfind(added_mark))};
    line.erase(line.find_last_not_of(" \t") + 1);
    return line + "\n";
  }

  /// Whether nothing of it has a meaning once our settings are gone.
  bool is_nothing() const {
    const auto content = tools::trim(text);
    return writer == Writer::configure || content.empty() || content.starts_with('#');
  }
};

/// Undoes the change of one setting: replaced lines, and the one that was added for them.
inline void undo_setting(const std::vector<ConfiguredLine>& lines, Undone& out) {
  std::size_t changed = 0;  // the number of lines up to the last one that a person changed
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].writer == Writer::both) changed = i + 1;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    if (line.writer == Writer::configure) continue;
    if (i + 1 == changed) {
      out.text += line.without_mark();
      out.kept.emplace_back(tools::trim(line.without_mark()));
    } else {
      // The older values of a setting that a person has changed are only remarks.
      out.text.append(i < changed ? "# " : "").append(line.text);
    }
  }
}

}  // namespace detail

/// The text without what `with_settings` added, and with what it replaced. A header that was added
/// stays if other settings now follow it; so does a line that was changed since.
inline Undone without_settings(std::string_view text) {
  std::vector<detail::ConfiguredLine> lines;
  for (const auto line : lines_of(text)) lines.emplace_back(line);
  Undone out;
  for (std::size_t i = 0; i < lines.size();) {
    if (detail::is_header(lines[i].text)) {
      auto next = i + 1;
      while (next < lines.size() && lines[next].is_nothing()) ++next;
      const bool is_empty = next == lines.size() || detail::is_header(lines[next].text);
      const bool is_ours = lines[i].writer == detail::Writer::configure;
      if (!is_ours || !is_empty) out.text += lines[i].text;
      ++i;
      continue;
    }
    std::vector<detail::ConfiguredLine> setting;
    while (i < lines.size() && lines[i].is_replaced) setting.push_back(lines[i++]);
    if (i < lines.size() && !detail::is_header(lines[i].text)) setting.push_back(lines[i++]);
    detail::undo_setting(setting, out);
  }
  if (!text.ends_with('\n') && out.text.ends_with('\n')) out.text.pop_back();
  return out;
}

}  // namespace prepare::configure

#endif  // CDI_TOOLS_GPU_CONFIGURE_TOML_UNDO_HPP
