// The bodies of <cdi/rules/minimum_version.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_MINIMUM_VERSION_HPP
#define CDI_RULES_IMPL_MINIMUM_VERSION_HPP

#include <cstddef>
#include <string_view>

#include <cdi/base/member_path.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Adds the need of a member.
inline void narrow(ReleaseNeed& need, const Lifetime& lifetime, const MemberPath& at) {
  if (lifetime.since > need.release) {
    need.release = lifetime.since;
    need.where = at.text();
  }
  if (lifetime.until < need.until) {
    need.until = lifetime.until;
    need.until_where = at.text();
    need.until_instead = lifetime.instead;
  }
}

/// Adds the needs of the fields of a value: a field that is not empty needs its release.
inline void add_field_needs(const void* self, const Type& type, const MemberPath& at,
                            ReleaseNeed& need) {
  void* const value = as_mutable(self);
  if (type.shape == Shape::list || type.shape == Shape::optional) {
    if (type.item->fields == nullptr) return;
    const bool list = type.shape == Shape::list;
    const Items items = type.items(value);
    for (std::size_t i = 0; i < items.size; ++i) {
      const MemberPath item{at.outer, at.key, list ? i : MemberPath::no_index};
      detail::add_field_needs(nth(items, i, *type.item), *type.item, item, need);
    }
  }
  if (type.shape != Shape::object) return;
  Places places;
  type.places(value, places);
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const FieldRow& row = type.fields[i];
    if (detail::is_empty(places[i], *row.type)) continue;
    const MemberPath field{&at, row.key};
    detail::narrow(need, row.lifetime, field);
    if (row.type->shape == Shape::text || row.type->shape == Shape::integer) continue;
    detail::add_field_needs(places[i], *row.type, field, need);
  }
}

}  // namespace detail

template <Storage S>
ReleaseNeed minimum_need(const BasicSpec<S>& spec) {
  ReleaseNeed need;
  detail::add_field_needs(&spec, detail::type_of<BasicSpec<S>>, {}, need);
  for (std::size_t i = 0; i < spec.devices.size() && need.release < Release{0, 5, 0}; ++i) {
    const std::string_view name = spec.devices[i].name;
    if (name.empty() || !detail::is_digit(name.front())) continue;
    const detail::MemberPath device{nullptr, "devices", i};
    detail::narrow(need, Release{0, 5, 0}, {&device, "name"});
  }
  const std::string_view kind = spec.kind;
  const auto slash = kind.find('/');
  if (slash != std::string_view::npos && kind.find('.', slash) != std::string_view::npos) {
    detail::narrow(need, Release{0, 6, 0}, {nullptr, "kind"});
  }
  return need;
}

#ifdef CDI_SOURCE
template ReleaseNeed minimum_need(const BasicSpec<Owning>&);
template ReleaseNeed minimum_need(const BasicSpec<Borrowed>&);
#endif

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_MINIMUM_VERSION_HPP
