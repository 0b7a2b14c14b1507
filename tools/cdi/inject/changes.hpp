// Prints the changes for `cdi inject --diff`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_INJECT_CHANGES_HPP
#define CDI_TOOLS_CDI_INJECT_CHANGES_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <cdi/plan.hpp>
#include <cdi/registry.hpp>

#include "../../kit/base/colours.hpp"
#include "../base/config_file.hpp"
#include "../base/edit_text.hpp"
#include "../base/exit_codes.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"

namespace detail {

/// An entry of a config as a value. Fails if JSON would not keep one of its numbers exactly.
inline cdi::Result<Json> entry_value(const cdi::Change& change, const std::string& text,
                                     std::optional<std::size_t> index) {
  if (text.empty() || change.part == "process.env") return Json(text);
  auto value = parse_config(text, {});
  if (value) return value;
  auto& error = value.error();
  error.where = index ? cdi::detail::item_path(change.part, *index) : change.part;
  error.position = {};
  return value;
}

/// A change as a record.
inline cdi::Result<Json> change_record(const cdi::Change& change) {
  Json record{{"change", name_of(change.kind)}, {"part", change.part}, {"key", change.key}};
  if (change.kind != cdi::ChangeKind::added) {
    auto before = entry_value(change, change.before, change.from);
    if (!before) return before;
    record["before"] = *std::move(before);
  }
  if (change.kind != cdi::ChangeKind::removed) {
    auto after = entry_value(change, change.after, change.to);
    if (!after) return after;
    record["after"] = *std::move(after);
  }
  if (change.from) record["from"] = *change.from;
  if (change.to) record["to"] = *change.to;
  return record;
}

inline tools::Colour colour_of(cdi::ChangeKind kind) {
  switch (kind) {
    case cdi::ChangeKind::added: return tools::Colour::green;
    case cdi::ChangeKind::removed: return tools::Colour::red;
    case cdi::ChangeKind::replaced: return tools::Colour::yellow;
    case cdi::ChangeKind::moved: break;
  }
  return tools::Colour::cyan;
}

/// The sentence for an injection that changes nothing.
inline std::string no_changes(bool any_device) {
  return any_device ? "no changes: the config already has the edits of these devices\n"
                    : "no changes: no device is injected\n";
}

}  // namespace detail

/// Prints the changes that devices make to a config, each with the edit that makes it, as text and
/// as a list of records. The text is in colours on a terminal.
inline ExitCode print_changes(const cdi::RecordedInjection& injected,
                              std::span<const cdi::ResolvedDevice> devices, const Output& output) {
  const bool has_colours = tools::output_has_colours();
  const bool is_text = output.format() == OutputFormat::text;
  const EditLines lines{devices};
  std::string text;
  Json list = Json::array();
  for (const auto& change : injected.changes) {
    auto line = to_string(change);
    if (has_colours) line = tools::coloured(line, detail::colour_of(change.kind));
    auto record = is_text ? cdi::Result<Json>{Json{}} : detail::change_record(change);
    if (!record) return output.reject(record.error());
    if (const auto* const made_by = cdi::find_origin(injected.plan, change)) {
      const auto origin = lines.completed(*made_by);
      line += "  " + to_string(origin);
      (*record)["origin"] = origin_json(origin);
    }
    text += line + "\n";
    list.push_back(*std::move(record));
  }
  if (injected.changes.empty()) text = detail::no_changes(!devices.empty());
  return output.result(text, list) ? exit_done : exit_failed;
}

#endif  // CDI_TOOLS_CDI_INJECT_CHANGES_HPP
