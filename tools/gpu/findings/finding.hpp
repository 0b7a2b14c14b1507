// A finding of `doctor`, and findings as text and as results.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/model/fields.hpp>

#include "../../kit/base/alike.hpp"
#include "../../kit/base/colours.hpp"
#include "../../kit/base/result_text.hpp"
#include "../base/one_line.hpp"

namespace prepare {

/// A fact about a host, and advice when something is wrong.
struct Finding {
  enum class Level : std::uint8_t {
    good,   // correct
    note,   // may be intended or wrong
    fault,  // keeps containers from their GPUs, or gives them wrong GPUs
  };

  Level level = Level::note;
  std::string about{};      // "nvidia GPU 0000:17:00.0", "containerd"
  std::string what{};       // the fact
  std::string advice{};     // empty if the level is `good`
  std::string_view code{};  // of a GPU or node fault, see fault.hpp; otherwise empty
};

namespace doctor {

using Findings = std::vector<Finding>;
using Level = Finding::Level;

}  // namespace doctor

/// The names of levels, in the order of `Finding::Level`.
inline constexpr std::array<std::string_view, 3> finding_levels{"good", "note", "fault"};

constexpr std::string_view level_name(Finding::Level level) {
  return finding_levels.at(static_cast<std::size_t>(level));
}

/// Whether something needs to be fixed.
inline bool has_fault(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.level == Finding::Level::fault; });
}

/// A line for each finding, followed by a line with advice, if any. Of faults that differ only in
/// the names of devices, the first is shown.
inline std::string findings_as_text(const std::vector<Finding>& findings) {
  std::string out;
  const auto key_of = [](const Finding& one) {
    if (one.level == Finding::Level::good) return std::string{};
    return tools::without_numbers(one.about + " : " + one.what) + one.advice;
  };
  for (const auto& [one, more] : tools::shown_of_alike(findings, key_of)) {
    out += as_line(fmt::format("{:<6} {}: {}{}", level_name(one->level), one->about, one->what,
                               tools::and_more_alike(more)));
    if (!one->advice.empty()) out += as_line("       " + one->advice);
  }
  return out;
}

/// Lines of findings with their levels in colours.
inline std::string with_colours(std::string_view text) {
  constexpr std::pair<Finding::Level, tools::Colour> colours[] = {
      {Finding::Level::good, tools::Colour::green},
      {Finding::Level::note, tools::Colour::yellow},
      {Finding::Level::fault, tools::Colour::red}};
  std::string out;
  while (!text.empty()) {
    for (const auto& [level, colour] : colours) {
      const auto name = level_name(level);
      if (!text.starts_with(name)) continue;
      out += tools::coloured(name, colour);
      text.remove_prefix(name.size());
    }
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    out += line;
    text.remove_prefix(line.size());
  }
  return out;
}

/// A finding in the results of `cdi-prepare doctor` and `cdi-dra check`.
struct ShownFinding {
  std::string_view level{};  // of `finding_levels`
  std::string about{}, what{};
  std::optional<std::string> code{}, advice{};

  static constexpr void fields(auto& list) {
    list("level", &ShownFinding::level, cdi::required);
    list("about", &ShownFinding::about, cdi::required);
    list("what", &ShownFinding::what, cdi::required);
    list("code", &ShownFinding::code, cdi::required);
    list("advice", &ShownFinding::advice, cdi::required);
  }
};

inline std::vector<ShownFinding> shown(const std::vector<Finding>& findings) {
  std::vector<ShownFinding> out;
  for (const auto& [level, about, what, advice, code] : findings) {
    out.push_back({level_name(level), about, what, tools::text_or_null(std::string{code}),
                   tools::text_or_null(advice)});
  }
  return out;
}

}  // namespace prepare
