// The paths of links and files that hooks make, of which none is below another one.
// SPDX-License-Identifier: Apache-2.0

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

/// Orders paths so that those below a path come right after it: a slash is less than all else.
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

/// The paths of links and files that hooks make. `cdi rootfs` makes none below another one: it
/// would be made where the link leads to.
class MadePaths {
 public:
  /// Adds those of some changes, if none is below another one. If one is, adds none.
  cdi::Result<void> add(const cdi::RootChanges& changes) {
    std::vector<std::string_view> all;
    for (const auto& link : changes.links) all.emplace_back(link.path);
    for (const auto& file : changes.files) all.emplace_back(file.path);
    std::vector<Paths::iterator> added;
    for (const auto path : all) {
      if (path.size() >= PATH_MAX) continue;  // of a record; `cdi rootfs` refuses it
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

  /// A known path that is above a new one, or below it; the end when there is none. `next` is the
  /// first known path behind it. Since no known path is below another one, only its neighbours can
  /// be.
  Paths::iterator nested(std::string_view path, Paths::iterator next) const {
    if (next != paths_.end() && is_below(*next, path)) return next;
    if (next == paths_.begin() || !is_below(path, *std::prev(next))) return paths_.end();
    return std::prev(next);
  }

  static cdi::Error below(std::string_view path, std::string_view other) {
    return {.code = cdi::Errc::unsupported,
            .message = fmt::format("hooks make {} and {}, of which one is below the other",
                                   cdi::quoted(other), cdi::quoted(path))};
  }

  Paths paths_{};
};

}  // namespace detail

#endif  // CDI_TOOLS_CDI_HOOKS_MADE_PATHS_HPP
