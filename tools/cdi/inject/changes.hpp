// Prints the changes for `cdi inject --diff`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

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

/// An entry of a config, whose text is JSON or that of a variable.
inline cdi::AnyValue entry_value(const cdi::Change& change, const std::string& text) {
  const bool is_json = !text.empty() && change.part != "process.env";
  return is_json ? tools::any_of_json(text) : cdi::AnyValue{cdi::ValueKind::text, text};
}

/// A change as a record.
inline ChangeRecord change_record(const cdi::Change& change) {
  using cdi::ChangeKind;
  ChangeRecord out{.change = name_of(change.kind),
                   .part = change.part,
                   .key = change.key,
                   .from = change.from,
                   .to = change.to};
  if (change.kind != ChangeKind::added) out.before = entry_value(change, change.before);
  if (change.kind != ChangeKind::removed) out.after = entry_value(change, change.after);
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
  const bool is_text = output.format() == OutputFormat::text;
  const EditLines lines{devices};
  std::string text;
  std::vector<ChangeRecord> list;
  for (const auto& change : injected.changes) {
    auto line = to_string(change);
    if (has_colours) line = tools::coloured(line, detail::colour_of(change.kind));
    auto record = is_text ? ChangeRecord{} : detail::change_record(change);
    if (const auto* const made_by = cdi::find_origin(injected.plan, change)) {
      record.origin = lines.completed(*made_by);
      line += "  " + to_string(*record.origin);
    }
    text += line + "\n";
    list.push_back(std::move(record));
  }
  if (injected.changes.empty()) text = detail::no_changes(!devices.empty());
  return output.result(text, list) ? exit_done : exit_failed;
}
