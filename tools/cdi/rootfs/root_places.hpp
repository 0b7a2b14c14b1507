// The places of the steps in a plan for a root: their paths with the image's links resolved.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_ROOTFS_ROOT_PLACES_HPP
#define CDI_TOOLS_CDI_ROOTFS_ROOT_PLACES_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "root_steps.hpp"
#include "rooted_files.hpp"

namespace detail {

/// The links and files of a plan by their places: paths with all parent links resolved.
using StepsByPath = std::unordered_map<std::string, const RootStep*>;

/// Puts the parts of a path before other parts; the list is stored in reverse order.
inline void push_parts(std::vector<std::string>& parts, std::string_view path) {
  const auto more = tools::split(path, "/");
  parts.insert(parts.end(), more.rbegin(), more.rend());
}

/// The links in a root; each is read once. An image controls the number and length of the links on
/// a path, so `take_part` fails if all paths of a plan together exceed the limit.
class KnownLinks {
 public:
  explicit KnownLinks(const RootedFiles& files) : files_{files} {}

  /// Counts a resolved part of a path, including `.` and `..`.
  cdi::Result<void> take_part() {
    if (++parts_ > max_parts) return too_long(max_parts, "parts");
    if (bytes_ > max_bytes) return too_long(max_bytes, "bytes");
    return {};
  }

  /// Counts the bytes of a stored path.
  void take_bytes(std::size_t bytes) { bytes_ += bytes; }

  /// The target of the link at a path; nullopt if there is no link.
  cdi::Result<std::optional<std::string>> at(const std::string& path) {
    const auto known = targets_.find(path);
    if (known != targets_.end()) return known->second;
    auto target = files_.read_link(path);
    if (!target) return target;
    targets_.emplace(path, *target);
    take_bytes(path.size());
    return target;
  }

 private:
  static constexpr std::size_t max_parts = 1'000'000;
  static constexpr std::size_t max_bytes = 64'000'000;

  static cdi::Error too_long(std::size_t max, std::string_view what) {
    return {.code = cdi::Errc::denied,
            .message = fmt::format(
                "the paths have more than {} {}, including the links in the root", max, what)};
  }

  const RootedFiles& files_;
  std::unordered_map<std::string, std::optional<std::string>> targets_{};
  std::size_t parts_ = 0;
  std::size_t bytes_ = 0;
};

/// Resolves the links in a path; the result is empty for the root. `link_at` receives each parent
/// path, and returns the target of a link there, if any. A missing part counts as a directory.
template <class LinkAt>
cdi::Result<std::string> resolve(KnownLinks& links, std::string_view path, const LinkAt& link_at) {
  std::string place;
  std::size_t depth = 0;  // of the place
  std::vector<std::string> rest;
  push_parts(rest, path);
  for (int followed = 0; !rest.empty();) {
    if (const auto taken = links.take_part(); !taken) return taken.error();
    const auto name = std::move(rest.back());
    rest.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      place.erase(std::min(place.rfind('/'), place.size()));
      if (depth > 0) --depth;
      continue;
    }
    const auto above = place.size();
    place.append("/").append(name);
    if (++depth > RootedFiles::max_folders) return RootedFiles::too_deep();
    const cdi::Result<std::optional<std::string>> target = link_at(place);
    if (!target) return target.error();
    if (!*target) continue;
    if (++followed > tools::RootedPaths::link_limit) return tools::path_error(path, ELOOP);
    const bool is_absolute = (*target)->starts_with('/');
    place.resize(is_absolute ? 0 : above);
    depth = is_absolute ? 0 : depth - 1;
    push_parts(rest, **target);
  }
  links.take_bytes(place.size());
  return place;
}

/// The place of a link or file: its path with all parent links in the root resolved.
inline cdi::Result<std::string> place_of(KnownLinks& links, const RootStep& step) {
  const SplitPath path{step.path};
  auto place = resolve(links, path.folder, [&](const std::string& at) { return links.at(at); });
  if (!place) return step_error(step, place.error());
  place->append("/").append(path.name);
  return place;
}

inline cdi::Error no_place(const RootStep& other, const RootStep& step) {
  return {.code = cdi::Errc::denied,
          .message = fmt::format("a link or file at {} blocks the path of the one at {}",
                                 cdi::quoted(other.path), cdi::quoted(step.path))};
}

/// The places of a plan. Fails if two steps would make different things in one place, because each
/// run would make both again.
inline cdi::Result<StepsByPath> find_places(KnownLinks& links, const RootSteps& plan) {
  StepsByPath places;
  for (const auto& step : plan) {
    if (step.kind == RootStep::Kind::mode) continue;
    auto place = place_of(links, step);
    if (!place) return place.error();
    const auto [found, is_new] = places.emplace(*std::move(place), &step);
    if (is_new) continue;
    const RootStep& other = *found->second;
    if (other.kind == step.kind && other.text == step.text && other.mode == step.mode) continue;
    return no_place(other, step);
  }
  return places;
}

/// No place may be a parent of another: the inner one could not be made, or would be made
/// elsewhere.
inline cdi::Result<void> reject_nested(KnownLinks& links, const StepsByPath& places,
                                       const RootSteps& plan) {
  for (const auto& step : plan) {
    if (step.kind == RootStep::Kind::mode) continue;
    const RootStep* other = nullptr;
    const auto folder = resolve(links, SplitPath{step.path}.folder, [&](const std::string& path) {
      const auto found = places.find(path);
      if (found != places.end()) other = found->second;
      return links.at(path);
    });
    if (other != nullptr) return no_place(*other, step);
    if (!folder) return step_error(step, folder.error());
  }
  return {};
}

/// The modes in a plan, by the places of their files.
using PlacedModes = std::unordered_map<std::string, mode_t>;

/// Finds the places of modes, which may be set through a link in the plan. Drops from `modes` the
/// files that the plan itself writes or removes. Fails for two different modes of one file, because
/// each run would set both again.
inline cdi::Result<PlacedModes> place_modes(KnownLinks& links, const StepsByPath& places,
                                            RootSteps& modes) {
  PlacedModes placed;
  const auto link_at = [&](const std::string& path) -> cdi::Result<std::optional<std::string>> {
    const auto found = places.find(path);
    if (found == places.end()) return links.at(path);
    if (found->second->kind != RootStep::Kind::link) return std::optional<std::string>{};
    return std::optional{found->second->text};
  };
  RootSteps others;
  for (auto& step : modes) {
    const auto place = resolve(links, step.path, link_at);
    if (!place) return step_error(step, place.error());
    const auto [found, is_new] = placed.emplace(*place, step.mode);
    if (!is_new && found->second != step.mode) {
      return step_error(step, fmt::format("conflicting mode for this file: {:04o}", found->second));
    }
    if (!places.contains(*place)) others.push_back(std::move(step));
  }
  modes = std::move(others);
  return placed;
}

/// Writes new files with their final modes, and sets all other modes last. Otherwise, each run
/// would write such a file again, with its default mode.
inline cdi::Result<void> settle_modes(KnownLinks& links, const StepsByPath& places,
                                      RootSteps& plan) {
  const auto is_mode = [](const RootStep& step) {
    return step.kind == RootStep::Kind::mode;
  };
  RootSteps modes;
  std::copy_if(plan.begin(), plan.end(), std::back_inserter(modes), is_mode);
  if (modes.empty()) return {};
  const auto placed = place_modes(links, places, modes);
  if (!placed) return placed.error();
  std::erase_if(plan, is_mode);
  for (auto& step : plan) {
    if (step.kind != RootStep::Kind::file) continue;
    const auto place = place_of(links, step);
    if (!place) return place.error();
    const auto found = placed->find(*place);
    if (found != placed->end()) step.mode = found->second;
  }
  std::move(modes.begin(), modes.end(), std::back_inserter(plan));
  return {};
}

/// Makes the steps of a plan independent, or fails. Compares places, because links in the image,
/// such as /lib to /usr/lib, may lead two paths to one place.
inline cdi::Result<void> settle_places(const RootedFiles& files, RootSteps& plan) {
  KnownLinks links{files};
  const auto places = find_places(links, plan);
  if (!places) return places.error();
  if (auto valid = reject_nested(links, *places, plan); !valid) return valid;
  return settle_modes(links, *places, plan);
}

}  // namespace detail

#endif  // CDI_TOOLS_CDI_ROOTFS_ROOT_PLACES_HPP
