// The bodies of <cdi/registry/loaded_spec.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_LOADED_SPEC_INL
#define CDI_REGISTRY_LOADED_SPEC_INL

#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/owner.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE Position LoadedSpec::locate(std::string_view where) const {
  if (places != nullptr) return places->locate(where);
  constexpr std::string_view device = "devices[";
  Position place{.file = path};
  const auto member = where.substr(0, where.find_first_of(".["));
  if (member == "containerEdits") place.line = edits_line;
  std::uint32_t index = 0;
  std::string_view rest = where;
  rest.remove_prefix(where.starts_with(device) ? device.size() : where.size());
  if (detail::take_number(rest, index) && index < lines.size()) place.line = lines[index];
  place.column = place.line == 0 ? 0 : 1;
  return place;
}

CDI_INLINE std::string_view LoadedSpec::owner() const {
  const auto recorded = spec.annotations.find(std::string{owner_annotation});
  std::string_view owner = owner_comment;
  if (recorded != spec.annotations.end() && !recorded->second.empty()) owner = recorded->second;
  return cdi::check_owner(owner) ? owner : std::string_view{};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_LOADED_SPEC_INL
