// The differences between this library and the Go reference that are known, and why they are right.
// The fuzz targets named go_* abort at any other difference. docs/conformance.md lists the
// frequent ones for users.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <cdi/name.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/text/unicode.hpp>

#include "../support/known_difference.hpp"
#include "fuzz.hpp"

namespace fuzz {

/// A spec that this library and the reference read differently, or inject differently.
struct SpecDifference {
  const cdi::Result<cdi::LoadedSpec>& ours;
  std::string_view theirs;  ///< why the reference rejects it; empty if it accepts
  std::string_view text;    ///< of the spec

  bool warned(std::string_view rule) const {
    if (!ours) return false;
    for (const auto& warning : ours->warnings) {
      if (warning.rule == rule) return true;
    }
    return false;
  }
  bool breaks(std::string_view rule) const { return !ours && ours.error().rule == rule; }
  bool rejected_here_for(std::string_view part) const {
    return !ours && ours.error().message.find(part) != std::string::npos;
  }
  bool rejected_there_for(std::string_view part) const {
    return ours && theirs.find(part) != theirs.npos;
  }
};

/// A row of tables.hpp for which a function of this library and of the reference differ.
struct RowDifference {
  const nlohmann::json& row;     ///< the arguments
  const nlohmann::json& theirs;  ///< the results of the reference
};

/// Whether a message says that a number is not an integer.
inline bool has_fraction(const std::string& message) {
  constexpr std::string_view before = "expected an integer, not ";
  if (!message.starts_with(before)) return false;
  const auto begin = before.size() + (message[before.size()] == '"' ? 1 : 0);  // ".5"
  const double number = std::strtod(message.c_str() + begin, nullptr);
  return number != std::floor(number);
}

/// Whether a text has a character that ends a line in YAML 1.1, but not in YAML 1.2.
inline bool has_old_line_end(std::string_view text) {
  for (const char* const end : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    if (text.find(end) != text.npos) return true;
  }
  return false;
}

/// Whether a text has a control character or is not UTF-8. UTF-16 begins with FE or FF.
inline bool has_forbidden(std::string_view text) {
  const bool is_utf16 = text.starts_with('\xFE') || text.starts_with('\xFF');
  return !is_utf16 && cdi::detail::find_odd_characters(text).forbidden != text.npos;
}

/// Whether a text has a tag right before a comma or a square bracket, as in `[!a, b]`.
inline bool has_tag_before_mark(std::string_view text) {
  for (auto at = text.find('!'); at != text.npos; at = text.find('!', at + 1)) {
    const auto end = text.find_first_of(", \t\r\n[]{}", at);
    const char c = end != text.npos ? text[end] : ' ';
    if (c == ',' || c == '[' || c == ']') return true;
  }
  return false;
}

/// Whether a text has a number with a leading zero, an 8 or 9, and more digits than a double holds.
inline bool has_long_number_with_leading_zero(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::size_t exact = 15;
  std::size_t end = 0;
  for (auto at = text.find_first_of(digits); at != text.npos;
       at = text.find_first_of(digits, end)) {
    end = std::min(text.find_first_not_of(digits, at), text.size());
    const auto first = std::min(text.find_first_not_of('0', at), end);
    const bool is_octal = text.substr(at, end - at).find_first_of("89") == text.npos;
    if (first > at && !is_octal && end - first > exact) return true;
  }
  return false;
}

inline bool has_control(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) return true;
  }
  return false;
}

inline bool has_duplicates(const nlohmann::json& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] == sorted[i - 1]) return true;
  }
  return false;
}

inline bool has_empty(const nlohmann::json& values) {
  for (const auto& value : values) {
    if (value == "") return true;
  }
  return false;
}

/// Whether the reference rejects two net devices that give an interface the same name.
inline bool has_equal_names(std::string_view fault) {
  constexpr std::string_view before = " with names ";
  constexpr std::string_view between = " and ";
  const auto at = fault.find(before);
  if (fault.find("duplicate HostInterfaceName") > at || at == fault.npos) return false;
  const auto names = fault.substr(at + before.size());
  const auto length = (names.size() - between.size()) / 2;
  return names == std::string{names.substr(0, length)}.append(between).append(names, 0, length);
}

// clang-format off
inline constexpr Known<SpecDifference> spec_differences[] = {
    {"null-item", [](const SpecDifference& d) { return d.rejected_here_for("null"); },
     "a null list item can be the end of a truncated file; the reference drops it, or crashes"},
    {"member-case", [](const SpecDifference& d) { return d.warned("member-case"); },
     "members match in any case, as in the reference until 1.1.0"},
    {"retired-member", [](const SpecDifference& d) {
       return d.rejected_there_for("field enableMBM not found") ||
              d.rejected_there_for("field enableCMT not found"); },
     "CDI 0.8.0 has these members, which the reference lost"},
    {"portable-text", [](const SpecDifference& d) { return d.warned("portable-text"); },
     "JSON and YAML 1.2 are read, with a warning if the reference reads them otherwise"},
    {"old-line-end", [](const SpecDifference& d) {
       return !d.ours && has_old_line_end(d.text); },
     "NEL and the line and paragraph separators are ordinary characters in YAML 1.2"},
    {"directive", [](const SpecDifference& d) {
       return d.rejected_here_for("'%' may begin a line only before a document"); },
     "the reference takes a directive as the end of a document"},
    {"key-mark", [](const SpecDifference& d) {
       return d.rejected_here_for("text in brackets cannot begin with '?'") ||
              d.rejected_here_for("unexpected \"?\""); },  // as JSON
     "in YAML 1.2, ? marks a key only with a space after it"},
    {"characters", [](const SpecDifference& d) { return !d.ours && has_forbidden(d.text); },
     "all of a file must be UTF-8; the reference does not read all that follows the first document"},
    {"fraction", [](const SpecDifference& d) {
       return !d.ours && has_fraction(d.ours.error().message); },
     "the reference drops the fraction of a number, and uses another device"},
    {"key", [](const SpecDifference& d) { return d.rejected_here_for("a key must be text"); },
     "the reference reads a key that is null as the empty text"},
    {"explicit-key", [](const SpecDifference& d) {
       return d.rejected_here_for("the key must be on the same line as its '?'"); },
     "the reference reads ? alone as a key that is null"},
    {"single-document", [](const SpecDifference& d) {
       return d.warned("single-document") && !d.theirs.empty(); },
     "the reference rejects some texts for a fault after the first document, which it does not use"},
    {"tag", [](const SpecDifference& d) { return !d.ours && has_tag_before_mark(d.text); },
     "in YAML 1.2, a comma or square bracket ends a tag; the reference takes it as a part"},
    {"long-number", [](const SpecDifference& d) {
       return d.ours && d.theirs.empty() && has_long_number_with_leading_zero(d.text); },
     "01581375277203776394 is decimal; the reference reads it as a float, and loses digits"},
    {"text-nul", [](const SpecDifference& d) { return d.breaks("text-nul"); },
     "some runtimes ignore what follows a NUL"},
    {"binary", [](const SpecDifference& d) { return d.rejected_here_for("!!binary"); },
     "no member of a spec holds bytes"},
};
inline constexpr Known<SpecDifference> inject_differences[] = {
    {"portable-text", [](const SpecDifference& d) { return d.warned("portable-text"); },
     "the reference reads the spec otherwise"},
    {"long-number", [](const SpecDifference& d) {
       return has_long_number_with_leading_zero(d.text); },
     "the reference reads the number otherwise"},
    {"interfaces", [](const SpecDifference& d) { return has_equal_names(d.theirs); },
     "two equal net devices move one interface; since 1.1.2 the reference rejects them"},
};
inline constexpr Known<RowDifference> name_differences[] = {
    {"kind", [](const RowDifference& d) {
       return d.row.contains("kind") && !cdi::parse_kind(d.row["kind"].get<std::string>()); },
     "an invalid kind has no spec name"},
    {"control", [](const RowDifference& d) {
       return d.row.contains("kind") && has_control(d.row["transient_id"].get<std::string>()); },
     "control characters in the name of a file hide other names"},
};
inline constexpr Known<RowDifference> annotation_differences[] = {
    {"empty", [](const RowDifference& d) { return has_empty(d.row["in"]); },
     "an empty value, which the reference writes for no devices, requests none"},
    {"twice", [](const RowDifference& d) {
       return d.theirs.contains("devices_sorted") && has_duplicates(d.theirs["devices_sorted"]); },
     "a device that annotations request twice is returned once: its hooks would run twice"},
};
// clang-format on

/// Prints at the end of the program how many inputs each row of a list explains.
template <auto& known>
class Explained {
 public:
  ~Explained() {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      std::fprintf(stderr, "explained by %.*s: %zu\n", static_cast<int>(known[i].name.size()),
                   known[i].name.data(), counts_[i]);
    }
  }

  /// Finds a row that explains a difference.
  template <class Difference>
  bool find(const Difference& difference) {
    const auto* const row = find_known(known, difference);
    if (row != nullptr) ++counts_[static_cast<std::size_t>(row - std::begin(known))];
    return row != nullptr;
  }

 private:
  std::array<std::size_t, std::size(known)> counts_{};
};

/// Aborts the program if no row of a list explains a difference. `detail` is both results.
template <auto& known, class Difference>
void require_known(const Difference& difference, std::string_view property,
                   const std::string& detail) {
  static Explained<known> explained;
  require(explained.find(difference), property, detail);
}

}  // namespace fuzz
