// The bodies of <cdi/requests/requests.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_REQUESTS_INL
#define CDI_REQUESTS_REQUESTS_INL

#include <cdi/base/order.hpp>
#include <cdi/requests/annotations.inl>
#include <cdi/requests/requests.hpp>
#include <cdi/rules/name.hpp>

namespace cdi::inline CDI_ABI {

/// Adds devices of one origin, except repeated ones. Costs a sort of the names.
CDI_INLINE void Requests::add(std::vector<RequestedDevice> added) {
  const std::size_t known = devices_.size();
  std::vector<std::string_view> names;
  for (const auto& device : devices_) names.push_back(device.name);
  for (const auto& device : added) names.push_back(device.name);
  const auto first = detail::first_of_equals(names);
  // If memory runs out, nothing is added.
  if (devices_.capacity() < known + added.size()) devices_.reserve(2 * known + added.size());
  for (std::size_t i = 0; i < added.size(); ++i) {
    auto& device = added[i];
    // The field comes first, so the first device with a name shows whether the field has it.
    const bool same_origin =
        first[known + i] >= known || devices_[first[known + i]].origin == device.origin;
    const bool repeats =
        rules_ == RequestRules::cri_o && same_origin && device.origin != RequestOrigin::variable;
    if (first[known + i] == known + i || repeats) devices_.push_back(std::move(device));
  }
}

namespace detail {

/// Makes the error for requests beyond `max_request_bytes`.
inline Error request_too_large(std::string what) {
  what.append(" more than ").append(std::to_string(max_request_bytes)).append(" bytes");
  return {.code = Errc::limit, .message = std::move(what), .advice = "request fewer devices"};
}

}  // namespace detail

CDI_INLINE Result<void> Requests::add_entries(const detail::AnnotationEntries& entries) {
  const auto& [keys, values] = entries;
  const auto order = detail::order_of(
      keys.size(), [&](std::size_t a, std::size_t b) { return entries.keys[a] < entries.keys[b]; });
  std::vector<std::string_view> names;
  std::vector<std::size_t> ends;  // for each annotation, the number of names so far
  std::uint64_t key_bytes = 0;    // of the keys of all names; a product of two sizes
  for (const auto i : order) {
    if (values[i].data() == nullptr) {
      return detail::wrong_kind(detail::inner_path("annotations", keys[i]), "a string");
    }
    const bool rejected = values[i].empty() && rules_ != RequestRules::each_once;
    auto good = rejected ? detail::whole_name_error("") : detail::append_names(values[i], names);
    if (!good) {
      good.error().message.insert(0, "annotation " + quoted(keys[i]) + ": ");
      return good;
    }
    const std::uint64_t added_names = names.size() - (ends.empty() ? 0 : ends.back());
    key_bytes += keys[i].size() * added_names;
    if (key_bytes > max_request_bytes) {
      return detail::request_too_large("the keys of all names in annotations would take");
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

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes the trimmed part before the next separator; `more` tells whether another part follows.
inline std::string_view take_until(std::string_view& text, char separator, bool& more) {
  const auto end = text.find(separator);
  const auto part = trimmed(text.substr(0, end));
  more = end != std::string_view::npos;
  text.remove_prefix(more ? end + 1 : text.size());
  return part;
}

inline Error selector_error(std::string_view entry, std::string_view fault) {
  return {.code = Errc::invalid,
          .message = "selector " + quoted(entry) + std::string{fault},
          .advice = "write vendor.com/class=all, or vendor.com/class=0,1"};
}

/// Returns the name of the device that a part of an entry selects, as in Kata: an index loses a
/// plus and leading zeros. Returns empty text if the part is neither `all` nor an index.
inline std::string selected_device(std::string_view part) {
  if (part == "all") return std::string{part};
  if (part.starts_with('+')) part.remove_prefix(1);
  std::uint32_t index = 0;
  return take_number(part, index) && part.empty() ? std::to_string(index) : std::string{};
}

/// Adds the names of one entry, `kind=dev,dev`. `bytes` counts the bytes of all names.
inline Result<void> add_selected(std::string_view entry, std::vector<std::string>& names,
                                 std::size_t& bytes) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos) return selector_error(entry, " has no =");
  const auto kind = trimmed(entry.substr(0, equals));
  if (!parse_kind(kind)) return kind_error(kind);
  auto rest = entry.substr(equals + 1);
  bool all = false;
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const auto part = take_until(rest, ',', more);
    if (part.empty()) return selector_error(entry, " contains an empty device");
    const auto device = selected_device(part);
    if (device.empty()) {
      return selector_error(entry, " contains a device that is neither all nor an index");
    }
    all = all || device == "all";
    names.push_back(qualified_name(kind, device));
    bytes += names.back().size();
    if (bytes > max_request_bytes) return request_too_large("the names of a selector would take");
  }
  if (all && count > 1) return selector_error(entry, " combines all with other devices");
  return {};
}

}  // namespace detail

CDI_INLINE Result<std::vector<std::string>> parse_selector(std::string_view text) {
  std::vector<std::string> names;
  std::size_t bytes = 0;
  text = detail::trimmed(text);
  if (text.empty() || text == "none" || text == "void") return names;
  for (bool more = true; more;) {
    const auto entry = detail::take_until(text, ':', more);
    auto good = detail::add_selected(entry, names, bytes);
    if (!good) return std::move(good).error();
  }
  return names;
}

}  // namespace cdi

#endif  // CDI_REQUESTS_REQUESTS_INL
