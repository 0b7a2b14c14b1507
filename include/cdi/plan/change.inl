// The bodies of <cdi/plan/change.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_CHANGE_INL
#define CDI_PLAN_CHANGE_INL

#include <cdi/base/result.hpp>
#include <cdi/plan/change.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline std::string place_text(const std::optional<std::size_t>& index) {
  return index ? "[" + std::to_string(*index) + "]" : std::string{};
}

/// Escapes the whole text of an entry, except that JSON keeps its quotes and backslashes.
inline std::string entry_text(std::string_view entry) {
  if (entry.empty()) return "(unknown)";
  std::string text;
  for (std::size_t at = 0; at < entry.size();) {
    const auto next = entry.find_first_of("\"\\", at);
    text.append(cdi::escaped(entry.substr(at, next - at), std::string::npos));
    if (next == entry.npos) break;
    text.push_back(entry[next]);
    at = next + 1;
  }
  return text;
}

}  // namespace detail

CDI_INLINE std::string to_string(const Change& change) {
  const bool is_new = change.kind == ChangeKind::added;
  std::string text{name_of(change.kind)};
  text.append(" ").append(change.part);
  const auto index = is_new ? change.to : change.from;
  text.append(detail::place_text(index));
  if (change.part == "linux.netDevices") text.append(".").append(cdi::escaped(change.key));
  if (change.kind == ChangeKind::moved) {
    return text.append(": ").append(detail::entry_text(change.after)) + " -> " +
           detail::place_text(change.to);
  }
  text.append(": ").append(detail::entry_text(is_new ? change.after : change.before));
  if (change.kind == ChangeKind::replaced) {
    text.append(" -> ").append(detail::entry_text(change.after));
  }
  return text;
}

}  // namespace cdi

#endif  // CDI_PLAN_CHANGE_INL
