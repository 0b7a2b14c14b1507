// The bodies of <cdi/rules/requests.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_REQUESTS_HPP
#define CDI_RULES_IMPL_REQUESTS_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/rules/annotations.hpp>
#include <cdi/rules/impl/annotations.hpp>
#include <cdi/rules/requests.hpp>
#include <cdi/rules/selector.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

CDI_INLINE Error wrong_kind(std::string_view where, std::string_view expected) {
  return {.code = Errc::schema,
          .message = std::string{"expected "}.append(expected),
          .where = std::string{where}};
}

}  // namespace detail

/// The place in `by_name_` where a name is, or belongs.
CDI_INLINE std::size_t Requests::first_not_before(std::string_view name) const {
  std::size_t begin = 0;
  for (std::size_t end = by_name_.size(); begin < end;) {
    const auto middle = begin + (end - begin) / 2;
    const bool before = devices_[by_name_[middle]].name < name;
    (before ? begin : end) = before ? middle + 1 : middle;
  }
  return begin;
}

CDI_INLINE void Requests::add(std::string_view name, RequestOrigin origin, std::string_view key) {
  const auto place = first_not_before(name);
  const auto* const first = place < by_name_.size() && devices_[by_name_[place]].name == name
                                ? &by_name_[place]
                                : nullptr;
  if (first != nullptr) {
    // The field is added first, so the first device of a name has its origin.
    const bool repeats = rules_ == RequestRules::cri_o && origin != RequestOrigin::variable;
    if (!repeats || devices_[*first].origin != origin) return;
  } else {
    by_name_.insert(by_name_.begin() + static_cast<std::ptrdiff_t>(place), devices_.size());
  }
  devices_.push_back({std::string{name}, origin, std::string{key}});
}

CDI_INLINE Result<void> Requests::add_entries(const Entries& entries) {
  const auto& [keys, values] = entries;
  const auto order = detail::order_of(
      keys.size(), [&](std::size_t a, std::size_t b) { return entries.keys[a] < entries.keys[b]; });
  std::vector<std::string_view> names;
  std::vector<std::size_t> ends;  // for each annotation, the number of names up to its last
  for (const auto i : order) {
    if (values[i].data() == nullptr) {
      return detail::wrong_kind(detail::inner_path("annotations", keys[i]), "a string");
    }
    const bool refused = values[i].empty() && rules_ != RequestRules::each_once;
    auto good = refused ? detail::whole_name_error("") : detail::append_names(values[i], names);
    if (!good) {
      good.error().message.insert(0, "annotation " + quoted(keys[i]) + ": ");
      return good;
    }
    ends.push_back(names.size());
  }
  std::size_t at = 0;
  for (std::size_t n = 0; n < order.size(); ++n) {
    for (; at < ends[n]; ++at) add(names[at], RequestOrigin::annotation, keys[order[n]]);
  }
  return {};
}

CDI_INLINE Result<void> Requests::add_variable(std::string_view name, std::string_view value) {
  auto names = parse_selector(value);
  if (!names) {
    names.error().message.insert(0, std::string{name} + ": ");
    return std::move(names).error();
  }
  for (const auto& one : *names) add(one, RequestOrigin::variable, name);
  return {};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_REQUESTS_HPP
