// Prints the changes for `cdi inject --diff`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/plan.hpp>
#include <cdi/registry.hpp>

#include "../../kit/base/colours.hpp"
#include "../base/exit_codes.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"
#include "../results/devices.hpp"

namespace detail {

/// An entry of a config, whose text is JSON or that of a variable. Fails if the entry alone has
/// more values than a text of its size may have.
inline cdi::Result<cdi::AnyValue> entry_value(const cdi::Change& change, const std::string& text,
                                              std::optional<std::size_t> index) {
  if (text.empty() || change.part == "process.env") {
    return cdi::AnyValue{cdi::ValueKind::text, text};
  }
  auto value = tools::any_of_json(text);
  if (value) return value;
  auto& error = value.error();
  error.where = index ? cdi::detail::item_path(change.part, *index) : change.part;
  error.position = {};
  return value;
}

/// A change as a record.
inline cdi::Result<ChangeRecord> change_record(const cdi::Change& change) {
  ChangeRecord out{.change = name_of(change.kind),
                   .part = change.part,
                   .key = change.key,
                   .from = change.from,
                   .to = change.to};
  if (change.kind != cdi::ChangeKind::added) {
    auto before = entry_value(change, change.before, change.from);
    if (!before) return std::move(before).error();
    out.before = *std::move(before);
  }
  if (change.kind != cdi::ChangeKind::removed) {
    auto after = entry_value(change, change.after, change.to);
    if (!after) return std::move(after).error();
    out.after = *std::move(after);
  }
  return out;
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
  const EditLines lines{devices};
  std::string text;
  std::vector<ChangeRecord> list;
  for (const auto& change : injected.changes) {
    std::optional<cdi::Origin> origin;
    const auto* const made_by = cdi::find_origin(injected.plan, change);
    if (made_by != nullptr) origin = lines.completed(*made_by);
    if (output.format() == OutputFormat::text) {
      const auto line = to_string(change);
      text += has_colours ? tools::coloured(line, detail::colour_of(change.kind)) : line;
      text += origin ? "  " + to_string(*origin) + "\n" : "\n";
      continue;
    }
    auto record = detail::change_record(change);
    if (!record) return output.reject(record.error());
    record->origin = std::move(origin);
    list.push_back(*std::move(record));
  }
  if (injected.changes.empty()) text = detail::no_changes(!devices.empty());
  return output.result(text, list) ? exit_done : exit_failed;
}
