// The paths of links and files that hooks make, none of which is inside another.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_HOOKS_MADE_PATHS_HPP
#define CDI_TOOLS_CDI_HOOKS_MADE_PATHS_HPP

#include <algorithm>
#include <climits>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/nvidia.hpp>
#include <cdi/result.hpp>

namespace detail {

/// Orders paths so that a path is followed by the paths inside it: the slash sorts first.
struct PathOrder {
  using is_transparent = void;

  bool operator()(std::string_view a, std::string_view b) const {
    const auto rank = [](char c) {
      return c == '/' ? 0 : 1 + static_cast<unsigned char>(c);
    };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&](char x, char y) { return rank(x) < rank(y); });
  }
};

/// The paths of links and files that hooks make. `cdi rootfs` makes no path inside another: the
/// inner path would follow the outer link.
class MadePaths {
 public:
  /// Adds the paths of some changes. Adds none if one path is inside another.
  cdi::Result<void> add(const cdi::RootChanges& changes) {
    std::vector<std::string_view> all;
    for (const auto& link : changes.links) all.emplace_back(link.path);
    for (const auto& file : changes.files) all.emplace_back(file.path);
    std::vector<Paths::iterator> added;
    for (const auto path : all) {
      if (path.size() >= PATH_MAX) continue;  // from a record; `cdi rootfs` rejects it
      const auto next = paths_.lower_bound(path);
      if (next != paths_.end() && *next == path) continue;
      if (const auto other = nested(path, next); other != paths_.end()) {
        auto error = below(path, *other);
        for (const auto at : added) paths_.erase(at);
        return error;
      }
      added.push_back(paths_.emplace_hint(next, path));
    }
    return {};
  }

 private:
  using Paths = std::set<std::string, PathOrder>;

  static bool is_below(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
  }

  /// A known path that contains a new path, or is inside it; the end if there is none. `next` is
  /// the first known path that sorts after the new path. Since no known path is inside another,
  /// only the two neighbours need a check.
  Paths::iterator nested(std::string_view path, Paths::iterator next) const {
    if (next != paths_.end() && is_below(*next, path)) return next;
    if (next == paths_.begin() || !is_below(path, *std::prev(next))) return paths_.end();
    return std::prev(next);
  }

  static cdi::Error below(std::string_view path, std::string_view other) {
    return {.code = cdi::Errc::unsupported,
            .message = fmt::format("hooks make {} and {}, and one is inside the other",
                                   cdi::quoted(other), cdi::quoted(path))};
  }

  Paths paths_{};
};

}  // namespace detail

#endif  // CDI_TOOLS_CDI_HOOKS_MADE_PATHS_HPP
