// Compares functions of tables.hpp with the Go reference.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../conformance/tables.hpp"
#include "fuzz.hpp"
#include "go_differences.hpp"
#include "go_peer.hpp"

namespace fuzz {

/// Requires that a function of tables.hpp and the one of the reference give the same result, except
/// for the differences of a list.
/// Answers are compared only for errors if the arguments are not UTF-8, which JSON cannot hold.
template <auto& known>
void require_same_row(const char* table, const Json& row, std::vector<std::string_view> arguments) {
  bool is_text = true;
  for (const auto argument : arguments) is_text = is_text && cdi::detail::is_utf8(argument);
  arguments.insert(arguments.begin(), table);
  const Json answer = go_peer().ask(arguments);
  Json ours = tables::all.at(table).answers(row);
  for (auto member = ours.begin(); !is_text && member != ours.end();) {
    member = member.key().ends_with("error") ? std::next(member) : ours.erase(member);
  }
  const auto found = tables::difference(answer, ours);
  if (!found.empty()) require_known<known>(RowDifference{row, answer}, table, found);
}

}  // namespace fuzz
