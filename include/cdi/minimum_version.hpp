// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MINIMUM_VERSION_HPP
#define CDI_MINIMUM_VERSION_HPP

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/fields.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Every release of the CDI specification, oldest first. 0.1.0 and 0.2.0 are known, but older than
/// any spec needs. SPEC.md, Released versions.
inline constexpr std::array<Release, 10> known_releases{{
    {0, 1, 0},
    {0, 2, 0},
    {0, 3, 0},
    {0, 4, 0},
    {0, 5, 0},
    {0, 6, 0},
    {0, 7, 0},
    {0, 8, 0},
    {1, 0, 0},
    {1, 1, 0},
}};

/// The release that a `cdiVersion` names; one leading `v` may stand before it. Nothing when it
/// names none of `known_releases`.
inline std::optional<Release> parse_release(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  for (const Release release : known_releases) {
    if (cdi::to_string(release) == text) return release;
  }
  return std::nullopt;
}

/// The releases that have all a document uses: from `release` on, before `until`; and the paths of
/// the members that say so.
struct ReleaseNeed {
  Release release{};                 ///< the oldest that has all of it; 0.3.0 at least
  std::string where{};               ///< the member that needs `release`; empty when none does
  Release until = Lifetime::never;   ///< the first that lacks a member used
  std::string until_where{};         ///< the member that `until` lacks; empty when there is none
  std::string_view until_instead{};  ///< what to write instead of that member from then on
};

namespace detail {

/// Adds what a member needs; `outer()` is its path.
template <class Outer>
void narrow(ReleaseNeed& need, const ReleaseNeed& other, Outer&& outer) {
  if (other.release > need.release) {
    need.release = other.release;
    need.where = inner_path(outer(), other.where);
  }
  if (other.until < need.until) {
    need.until = other.until;
    need.until_where = inner_path(outer(), other.until_where);
    need.until_instead = other.until_instead;
  }
}

/// What the field lists say: each field that holds something needs the release it came with.
template <class T>
ReleaseNeed field_need(const T& value) {
  ReleaseNeed need;
  if constexpr (Described<T>) {
    every_field<T>([&](const auto& f) {
      const auto& member = value.*f.member;
      if (!cdi::is_empty(member)) {
        const auto key = [&] {
          return f.key;
        };
        detail::narrow(need, {f.lifetime.since, {}, f.lifetime.until, {}, f.lifetime.instead}, key);
        detail::narrow(need, detail::field_need(member), key);
      }
      return true;
    });
  } else if constexpr (OptionalLike<T>) {
    if (value) need = detail::field_need(*value);
  } else if constexpr (ListLike<T>) {
    if constexpr (Described<typename T::value_type>) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        detail::narrow(need, detail::field_need(value[i]), [&] { return item_path("", i); });
      }
    }
  }
  return need;
}

}  // namespace detail

/// The CDI releases that can hold a spec, with the members that say so. From the field lists, and
/// two rules on values: 0.5.0 lets device names begin with a digit, 0.6.0 lets classes have dots.
/// Not what its `cdiVersion` says: that is not looked at. Costs one pass.
template <Storage S>
ReleaseNeed minimum_need(const BasicSpec<S>& spec) {
  ReleaseNeed need = detail::field_need(spec);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const std::string_view name = spec.devices[i].name;
    if (need.release >= Release{0, 5, 0} || name.empty() || !detail::is_digit(name.front()))
      continue;
    need.release = {0, 5, 0};
    need.where = detail::item_path("devices", i).append(".name");
  }
  const std::string_view kind = spec.kind;
  const auto slash = kind.find('/');
  if (slash != std::string_view::npos && kind.find('.', slash) != std::string_view::npos) {
    detail::narrow(need, {.release = {0, 6, 0}}, [] { return "kind"; });
  }
  return need;
}

/// The oldest CDI release that can hold a spec: what to write, by `to_string`, as its `cdiVersion`.
template <Storage S>
Release minimum_version(const BasicSpec<S>& spec) {
  return minimum_need(spec).release;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_MINIMUM_VERSION_HPP
