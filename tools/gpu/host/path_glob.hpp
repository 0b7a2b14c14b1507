// Patterns of paths on a host: wildcards, and the number of a device.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/glob.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"

namespace prepare {

/// The first number in a text, as it is written; nullopt without a digit.
inline std::optional<std::string> first_number(std::string_view text) {
  const auto begin = std::find_if(text.begin(), text.end(), &tools::is_digit);
  const auto end = std::find_if_not(begin, text.end(), &tools::is_digit);
  if (begin == end) return std::nullopt;
  return std::string{begin, end};
}

/// A path that a pattern matches.
struct GlobMatch {
  std::string path{};
  std::optional<std::string> number{};  // what `{index}` stands for, or otherwise the first number
                                        // from the first wildcard on
};

/// A pattern for a path, each part of which is a pattern for a name and may have `{index}`.
class PathGlob {
 public:
  static constexpr std::size_t max_names = 20000;  // for one search
  static constexpr std::size_t max_matches = 4096;

  PathGlob() = default;

  /// Parses a pattern, which must be an absolute path in its shortest form; `fault` says what is
  /// wrong with it. Implicit, for field lists.
  PathGlob(std::string_view text) : text_{text} {
    const auto first = text.find(tools::Glob::index);
    if (!text.starts_with('/') || cdi::clean_path(text) != text || !tools::is_plain(text)) {
      fail("this is not an absolute path of printable ASCII without empty parts, . or ..");
    } else if (first != text.npos && text.find(tools::Glob::index, first + 1) != text.npos) {
      fail("a pattern can contain {index} only once");
    }
    for (const auto& part : tools::split(text, "/")) {
      auto name = tools::Glob::parse(part, tools::Glob::Index::yes);
      if (!name && !fault_) fault_ = name.error();
      if (name) parts_.push_back(std::move(*name));
    }
  }

  const std::string& text() const { return text_; }
  operator std::string_view() const { return text_; }
  const std::optional<cdi::Error>& fault() const { return fault_; }

  bool is_literal() const {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const tools::Glob& part) { return part.is_literal(); });
  }

  /// The paths on a host that match, in order; of a literal pattern its path, even if it does not
  /// exist. An error if the search would take too long.
  cdi::Result<std::vector<GlobMatch>> find(const tools::HostTree& tree) const {
    std::vector<GlobMatch> found{{}};
    std::size_t names = 0;
    for (const auto& part : parts_) {
      std::vector<GlobMatch> next;
      for (const auto& directory : found) {
        if (!add_matches(tree, part, directory, names, next)) return too_many();
      }
      found = std::move(next);
    }
    return found;
  }

 private:
  void fail(std::string message) {
    fault_ = cdi::Error{.code = cdi::Errc::invalid, .message = std::move(message)};
  }

  /// Adds the paths in a directory that match. Returns false if there are too many.
  static bool add_matches(const tools::HostTree& tree, const tools::Glob& part,
                          const GlobMatch& directory, std::size_t& names,
                          std::vector<GlobMatch>& out) {
    if (part.is_literal()) {
      out.push_back({directory.path + "/" + part.literal(), directory.number});
      return true;
    }
    const auto listed = tree.list(directory.path.empty() ? "/" : directory.path);
    names += listed.size();
    if (names > max_names) return false;
    for (const auto& name : listed) {
      std::string number;
      if (!tools::is_plain(name) || !part.matches(name, &number)) continue;
      GlobMatch match{directory.path + "/" + name, directory.number};
      if (!number.empty()) {
        match.number = std::move(number);
      } else if (!match.number) {
        match.number = first_number(std::string_view{name}.substr(part.literal_size()));
      }
      out.push_back(std::move(match));
      if (out.size() > max_matches) return false;
    }
    return true;
  }

  cdi::Error too_many() const {
    return {.code = cdi::Errc::limit,
            .message = fmt::format("{} would look at more than {} names, or match more than {}",
                                   text_, max_names, max_matches),
            .advice = "make the pattern more precise"};
  }

  std::string text_{};
  std::vector<tools::Glob> parts_{};
  std::optional<cdi::Error> fault_{};
};

/// Whether a text matches a pattern for a file name, such as `0x1ae*`.
inline bool matches_glob(std::string_view pattern, std::string_view text) {
  const auto glob = tools::Glob::parse(pattern, tools::Glob::Index::yes);
  return glob && glob->matches(text);
}

}  // namespace prepare
