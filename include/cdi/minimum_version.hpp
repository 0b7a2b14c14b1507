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

/// Every release of the CDI specification. 0.1.0 and 0.2.0 are known, but older than any spec
/// needs.
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

/// The release that a `cdiVersion` names; one leading `v` may stand before it.
inline std::optional<Release> parse_release(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  for (const Release release : known_releases) {
    if (cdi::to_string(release) == text) return release;
  }
  return std::nullopt;
}

/// The oldest release that has all a document uses, and the path of the member that needs it.
struct ReleaseNeed {
  Release release{};
  std::string where{};
};

namespace detail {

inline void raise(ReleaseNeed& need, ReleaseNeed other, std::string_view outer) {
  if (other.release <= need.release) return;
  const bool dotted = !other.where.empty() && other.where.front() != '[';
  need.release = other.release;
  need.where = std::string{outer}.append(dotted ? "." : "").append(other.where);
}

/// What the field lists say: each field that holds something needs the release it came with.
template <class T>
ReleaseNeed field_need(const T& value) {
  ReleaseNeed need;
  if constexpr (Described<T>) {
    every_field<T>([&](const auto& f) {
      const auto& member = value.*f.member;
      if (!cdi::is_empty(member)) {
        detail::raise(need, {f.lifetime.since, {}}, f.key);
        detail::raise(need, detail::field_need(member), f.key);
      }
      return true;
    });
  } else if constexpr (OptionalLike<T>) {
    if (value) need = detail::field_need(*value);
  } else if constexpr (ListLike<T>) {
    if constexpr (Described<typename T::value_type>) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        auto item = detail::field_need(value[i]);
        if (item.release > need.release) detail::raise(need, std::move(item), item_path("", i));
      }
    }
  }
  return need;
}

}  // namespace detail

/// The oldest CDI release that can hold a spec, with the member that needs it. From the field
/// lists, and two rules on values: 0.5.0 lets device names begin with a digit, 0.6.0 lets classes
/// have dots.
template <Storage S>
ReleaseNeed minimum_need(const BasicSpec<S>& spec) {
  ReleaseNeed need = detail::field_need(spec);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    const std::string_view name = spec.devices[i].name;
    if (need.release >= Release{0, 5, 0} || name.empty() || !detail::is_digit(name.front()))
      continue;
    need = {{0, 5, 0}, detail::item_path("devices", i).append(".name")};
  }
  const std::string_view kind = spec.kind;
  const auto slash = kind.find('/');
  if (slash != std::string_view::npos && kind.find('.', slash) != std::string_view::npos) {
    detail::raise(need, {{0, 6, 0}, {}}, "kind");
  }
  return need;
}

/// The oldest CDI release that can hold a spec: what to write as its `cdiVersion`.
template <Storage S>
Release minimum_version(const BasicSpec<S>& spec) {
  return minimum_need(spec).release;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_MINIMUM_VERSION_HPP
