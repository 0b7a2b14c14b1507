// The places of the steps of a plan for a root: their paths without links of the image.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_ROOT_PLACES_HPP
#define CDI_EXAMPLES_CDI_ROOT_PLACES_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../prepare/base/text.hpp"
#include "../prepare/host/rooted_paths.hpp"
#include "root_steps.hpp"
#include "rooted_files.hpp"

namespace detail {

/// The links and files of a plan, each by its place: its path without links above it.
using Places = std::unordered_map<std::string, const RootStep*>;

/// Puts the parts of a path in front of others, which have the last part first.
inline void push_parts(std::vector<std::string>& parts, std::string_view path) {
  const auto more = prepare::split(path, "/");
  parts.insert(parts.end(), more.rbegin(), more.rend());
}

/// The links of a root, each of which is read once. An image decides how many are on the way of a
/// path: when all paths of a plan need too many in all, `at` fails.
class KnownLinks {
 public:
  explicit KnownLinks(const RootedFiles& files) : files_{files} {}

  /// The target of the link at a path; nothing if there is no link.
  cdi::Result<std::optional<std::string>> at(const std::string& path) {
    if (++asked_ > most_asked) {
      return cdi::Error{.code = cdi::Errc::refused, .message = "the root has too many links"};
    }
    const auto known = targets_.find(path);
    if (known != targets_.end()) return known->second;
    auto target = files_.read_link(path);
    if (target) targets_.emplace(path, *target);
    return target;
  }

 private:
  static constexpr std::size_t most_asked = 1'000'000;

  const RootedFiles& files_;
  std::unordered_map<std::string, std::optional<std::string>> targets_{};
  std::size_t asked_ = 0;
};

/// A path without links; empty for the root. `link_at` gets each path on the way, and gives the
/// target of the link there, if there is one. What is missing is taken for a directory.
template <class LinkAt>
cdi::Result<std::string> resolve(std::string_view path, const LinkAt& link_at) {
  constexpr std::ptrdiff_t most_depth = RootedFiles::most_folders;
  std::string place;
  std::vector<std::string> rest;
  push_parts(rest, path);
  for (int links = 0; !rest.empty();) {
    const auto name = std::move(rest.back());
    rest.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      place.erase(std::min(place.rfind('/'), place.size()));
      continue;
    }
    const auto above = place.size();
    place.append("/").append(name);
    if (std::count(place.begin(), place.end(), '/') > most_depth) return RootedFiles::too_deep();
    const cdi::Result<std::optional<std::string>> target = link_at(place);
    if (!target) return target.error();
    if (!*target) continue;
    if (++links > prepare::RootedPaths::link_limit) return prepare::path_error(path, ELOOP);
    place.resize((*target)->starts_with('/') ? 0 : above);
    push_parts(rest, **target);
  }
  return place;
}

inline cdi::Error no_place(const RootStep& other, const RootStep& step) {
  return {.code = cdi::Errc::refused,
          .message = fmt::format("a link or file at {} leaves no place for the one at {}",
                                 cdi::quoted(other.path), cdi::quoted(step.path))};
}

/// The places of a plan. Fails if two steps would make different things in one place: each run
/// would make both again.
inline cdi::Result<Places> find_places(KnownLinks& links, const RootPlan& plan) {
  Places places;
  const auto link_at = [&](const std::string& path) {
    return links.at(path);
  };
  for (const auto& step : plan) {
    if (step.kind == RootStep::Kind::mode) continue;
    const SplitPath path{step.path};
    const auto folder = resolve(path.folder, link_at);
    if (!folder) return step_error(step, folder.error());
    const auto [found, is_new] = places.emplace(*folder + "/" + path.name, &step);
    if (is_new) continue;
    const RootStep& other = *found->second;
    if (other.kind == step.kind && other.text == step.text && other.mode == step.mode) continue;
    return no_place(other, step);
  }
  return places;
}

/// None may be on the way to another, which could then not be made, or would be made elsewhere.
inline cdi::Result<void> refuse_nested(KnownLinks& links, const Places& places,
                                       const RootPlan& plan) {
  for (const auto& step : plan) {
    if (step.kind == RootStep::Kind::mode) continue;
    const RootStep* other = nullptr;
    const auto folder = resolve(SplitPath{step.path}.folder, [&](const std::string& path) {
      const auto found = places.find(path);
      if (found != places.end()) other = found->second;
      return links.at(path);
    });
    if (other != nullptr) return no_place(*other, step);
    if (!folder) return step_error(step, folder.error());
  }
  return {};
}

/// Of two different modes of one file, each run would set both again. A mode may be set through a
/// link of the plan.
inline cdi::Result<void> check_modes(KnownLinks& links, const Places& places,
                                     const RootPlan& plan) {
  std::unordered_map<std::string, mode_t> modes;
  const auto link_at = [&](const std::string& path) -> cdi::Result<std::optional<std::string>> {
    const auto found = places.find(path);
    if (found == places.end()) return links.at(path);
    if (found->second->kind != RootStep::Kind::link) return std::optional<std::string>{};
    return std::optional{found->second->text};
  };
  for (const auto& step : plan) {
    if (step.kind != RootStep::Kind::mode) continue;
    const auto place = resolve(step.path, link_at);
    if (!place) return step_error(step, place.error());
    const auto [found, is_new] = modes.emplace(*place, step.mode);
    if (is_new || found->second == step.mode) continue;
    return step_error(step, fmt::format("another mode of this file is {:04o}", found->second));
  }
  return {};
}

/// Checks that the steps of a plan leave each other alone. Compares places: two paths may lead to
/// one by links of the image, like /lib to /usr/lib.
inline cdi::Result<void> check_places(const RootedFiles& files, const RootPlan& plan) {
  KnownLinks links{files};
  const auto places = find_places(links, plan);
  if (!places) return places.error();
  if (auto valid = refuse_nested(links, *places, plan); !valid) return valid;
  return check_modes(links, *places, plan);
}

}  // namespace detail

#endif  // CDI_EXAMPLES_CDI_ROOT_PLACES_HPP
