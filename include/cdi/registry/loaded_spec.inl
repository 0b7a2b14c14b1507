// The bodies of <cdi/registry/loaded_spec.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_LOADED_SPEC_INL
#define CDI_REGISTRY_LOADED_SPEC_INL

#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/owner.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Position LoadedSpec::locate(std::string_view where) const {
  const auto* const known = positions();
  return known == nullptr ? locate_part(where) : known->locate(where);
}

CDI_INLINE Position LoadedSpec::locate_part(std::string_view where) const {
  constexpr std::string_view device = "devices[";
  LineColumn at;
  if (where.substr(0, where.find_first_of(".[")) == "containerEdits") at = edits_position;
  std::uint32_t index = 0;
  std::string_view rest = where;
  rest.remove_prefix(where.starts_with(device) ? device.size() : where.size());
  if (detail::take_number(rest, index) && index < device_positions.size())
    at = device_positions[index];
  return {path, at.line, at.column};
}

CDI_INLINE Position ResolvedDevice::position() const {
  const auto& positions = spec->device_positions;
  const auto at = index() < positions.size() ? positions[index()] : LineColumn{};
  return {spec->path, at.line, at.column};
}

CDI_INLINE std::string_view LoadedSpec::owner() const {
  const auto recorded = spec.annotations.find(owner_annotation);
  std::string_view owner = owner_comment;
  if (recorded != spec.annotations.end() && !recorded->second.empty()) owner = recorded->second;
  return cdi::check_owner(owner) ? owner : std::string_view{};
}

}  // namespace cdi

#endif  // CDI_REGISTRY_LOADED_SPEC_INL
