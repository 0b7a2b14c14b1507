// Finds annotations of a pod that look like requests for devices but are not.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <nri.pb.h>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/name.hpp>
#include <cdi/registry/nearest_names.hpp>

#include "requests.hpp"

namespace nri {

/// An annotation that requests nothing, and what may have been meant.
struct IgnoredRequest {
  std::string key{};
  std::string advice{};

  friend bool operator==(const IgnoredRequest&, const IgnoredRequest&) = default;
};

namespace detail {

/// Whether two names differ in one or two letters only.
inline bool is_near(std::string_view one, std::string_view other) {
  constexpr std::size_t max = 2;
  return one != other && (cdi::detail::swaps_letters(one, other) ||
                          cdi::detail::edit_distance(one, other, max) <= max);
}

/// A name without its digits, the `s` of a plural, and a short last part: `gpu1`, `gpus` and
/// `gpu-a` become `gpu`.
inline std::string without_number(std::string_view name) {
  const auto dash = name.rfind('-');
  if (dash != std::string_view::npos && name.size() - dash <= 3) name = name.substr(0, dash);
  std::string out{name};
  std::erase_if(out, [](char c) { return c >= '0' && c <= '9'; });
  if (out.ends_with('s')) out.pop_back();
  return out;
}

/// Whether the name of a container may be a misspelt name of another one. Containers with numbers,
/// such as `worker-1` and `worker-2`, may all exist, and so may `server` and `servers`, and any
/// with short names.
inline bool is_misspelt(std::string_view name, std::string_view container) {
  constexpr std::size_t shortest = 4;
  return std::min(name.size(), container.size()) >= shortest && is_near(name, container) &&
         without_number(name) != without_number(container);
}

/// Whether a value is a list of qualified device names, which is rare in other annotations.
inline bool lists_devices(const std::string& key, const std::string& value) {
  const auto list = comma_list(key, value);
  if (!list || list->empty()) return false;
  for (std::string_view rest = *list; true;) {
    const auto comma = std::min(rest.find(','), rest.size());
    if (!cdi::parse_name(rest.substr(0, comma))) return false;
    if (comma == rest.size()) return true;
    rest.remove_prefix(comma + 1);
  }
}

/// The known prefix that a prefix may have been meant to be; empty if there is none.
inline std::string meant_prefix(std::string_view prefix, const AnnotationFamilies& families) {
  for (const auto& family : families) {
    for (const auto& known : family) {
      if (is_near(prefix, known)) return known;
    }
  }
  return {};
}

/// What an annotation with a known prefix may have been meant to be for a container; empty if it
/// requests devices for any container.
inline std::string advice_on_form(std::string_view prefix, std::string_view form,
                                  const PodSandbox& pod, const std::string& container) {
  constexpr std::string_view for_one = "/container.";
  if (form.empty() || form == "/pod") return {};
  if (!form.starts_with(for_one)) return "write PREFIX/container.NAME, PREFIX/pod or PREFIX";
  const auto own = std::string{prefix}.append(for_one).append(container);
  const bool is_other =
      pod.annotations().contains(own) || !is_misspelt(form.substr(for_one.size()), container);
  return is_other ? std::string{} : "did you mean " + own + "?";
}

}  // namespace detail

/// The annotations of a pod that request nothing for a container, although they have a known prefix
/// and an unknown form, such as `PREFIX/containers.main`, the misspelt name of the container, or a
/// misspelt prefix and the names of devices; in byte order. Leaves out a container's own
/// annotations, which runtimes may read.
inline std::vector<IgnoredRequest> ignored_requests(const PodSandbox& pod,
                                                    const Container& container,
                                                    const AnnotationFamilies& families) {
  std::vector<IgnoredRequest> ignored;
  for (const auto& [key, value] : pod.annotations()) {
    if (container.annotations().contains(key)) continue;
    const auto slash = std::min(key.find('/'), key.size());
    const auto prefix = std::string_view{key}.substr(0, slash);
    const auto form = std::string_view{key}.substr(slash);
    std::string advice;
    if (is_request(key, families)) {
      advice = detail::advice_on_form(prefix, form, pod, container.name());
    } else if (const auto meant = detail::meant_prefix(prefix, families);
               !meant.empty() && detail::lists_devices(key, value)) {
      advice = "did you mean " + meant + std::string{form} + "?";
    }
    if (!advice.empty()) ignored.push_back({.key = key, .advice = std::move(advice)});
  }
  std::sort(ignored.begin(), ignored.end(),
            [](const auto& one, const auto& other) { return one.key < other.key; });
  return ignored;
}

}  // namespace nri
