// The bodies of <cdi/requests/requests.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_REQUESTS_INL
#define CDI_REQUESTS_REQUESTS_INL

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/requests/selector.hpp>
#include <cdi/rules/annotations.hpp>
#include <cdi/rules/annotations.inl>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Adds devices of one origin, except repeated ones. The cost is sorting the names.
CDI_INLINE void Requests::add(std::vector<RequestedDevice> added) {
  const std::size_t known = devices_.size();
  std::vector<std::string_view> names;
  for (const auto& device : devices_) names.push_back(device.name);
  for (const auto& device : added) names.push_back(device.name);
  const auto first = detail::first_of_equals(names);
  for (std::size_t i = 0; i < added.size(); ++i) {
    auto& device = added[i];
    // The field comes first, so the first device of a name tells whether the field has it.
    const bool same_origin =
        first[known + i] >= known || devices_[first[known + i]].origin == device.origin;
    const bool repeats =
        rules_ == RequestRules::cri_o && same_origin && device.origin != RequestOrigin::variable;
    if (first[known + i] == known + i || repeats) devices_.push_back(std::move(device));
  }
}

CDI_INLINE Result<void> Requests::add_entries(const detail::AnnotationEntries& entries) {
  const auto& [keys, values] = entries;
  const auto order = detail::order_of(
      keys.size(), [&](std::size_t a, std::size_t b) { return entries.keys[a] < entries.keys[b]; });
  std::vector<std::string_view> names;
  std::vector<std::size_t> ends;  // for each annotation, the number of names so far
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
  std::vector<RequestedDevice> added;
  for (std::size_t n = 0; n < order.size(); ++n) {
    while (added.size() < ends[n]) {
      added.push_back({.name = std::string{names[added.size()]},
                       .origin = RequestOrigin::annotation,
                       .key = std::string{keys[order[n]]}});
    }
  }
  add(std::move(added));
  return {};
}

CDI_INLINE Result<void> Requests::add_variable(std::string_view name, std::string_view value) {
  auto names = parse_selector(value);
  if (!names) {
    names.error().message.insert(0, std::string{name} + ": ");
    return std::move(names).error();
  }
  std::vector<RequestedDevice> added;
  for (auto& one : *names) {
    added.push_back(
        {.name = std::move(one), .origin = RequestOrigin::variable, .key = std::string{name}});
  }
  add(std::move(added));
  return {};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REQUESTS_REQUESTS_INL
