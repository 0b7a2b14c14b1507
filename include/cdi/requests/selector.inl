// The bodies of <cdi/requests/selector.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_SELECTOR_INL
#define CDI_REQUESTS_SELECTOR_INL

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/requests/selector.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

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

/// Adds the names of one entry, `kind=dev,dev`.
inline Result<void> add_selected(std::string_view entry, std::vector<std::string>& names) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos) return selector_error(entry, " has no =");
  const auto kind = trimmed(entry.substr(0, equals));
  if (!parse_kind(kind)) return kind_error(kind);
  auto rest = entry.substr(equals + 1);
  bool all = false;
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const auto part = take_until(rest, ',', more);
    if (part.empty()) return selector_error(entry, " has an empty device");
    const auto device = selected_device(part);
    if (device.empty()) {
      return selector_error(entry, " has a device that is neither all nor an index");
    }
    all = all || device == "all";
    names.push_back(qualified_name(kind, device));
  }
  if (all && count > 1) return selector_error(entry, " has all next to other devices");
  return {};
}

}  // namespace detail

CDI_INLINE Result<std::vector<std::string>> parse_selector(std::string_view text) {
  std::vector<std::string> names;
  text = detail::trimmed(text);
  if (text.empty() || text == "none" || text == "void") return names;
  for (bool more = true; more;) {
    const auto entry = detail::take_until(text, ':', more);
    if (auto good = detail::add_selected(entry, names); !good) return std::move(good).error();
  }
  return names;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REQUESTS_SELECTOR_INL
