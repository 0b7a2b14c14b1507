// The bodies of <cdi/claims/claim.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_INL
#define CDI_CLAIMS_CLAIM_INL

#include <utility>

#include <cdi/claims/claim.hpp>
#include <cdi/rules/name.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string Claim::file_name() const {
  const auto stem = transient_spec_name(kind, uid);
  return (stem ? *stem : uid) + ".json";
}

CDI_INLINE std::string Claim::device_name(std::size_t index) const {
  return uid + "-" + std::to_string(index);
}

CDI_INLINE std::string Claim::device_id(std::size_t index) const {
  return qualified_name(kind, device_name(index));
}

CDI_INLINE bool is_claim_uid(std::string_view text) {
  constexpr std::size_t longest = 56;
  return text.size() <= longest && is_device_name(text) &&
         text.find_first_of("_.:") == std::string_view::npos;
}

CDI_INLINE std::string_view uid_of_claim_file(std::string_view name) {
  constexpr std::string_view extension = ".json";
  if (!name.ends_with(extension)) return {};
  name.remove_suffix(extension.size());
  return is_claim_uid(name) ? name : std::string_view{};
}

CDI_INLINE bool is_spec_of_claim(std::string_view uid, std::string_view path) {
  return path.ends_with(std::string{"_"}.append(uid).append(".json"));
}

CDI_INLINE std::string to_string(const Claim& claim) {
  std::string out;
  for (const auto& device : claim.devices) {
    if (!out.empty()) out += ", ";
    out += device.request.empty() ? device.name : device.name + "@" + device.request;
  }
  return out;
}

namespace detail {

CDI_INLINE Error claim_conflict(std::string message) {
  return {.code = Errc::conflict, .message = std::move(message)};
}

CDI_INLINE std::string names_of(const ClaimedDevice& device) {
  const auto& requested = device.requested;
  if (requested.empty() || requested == device.name) return device.name;
  return requested + " (" + device.name + ")";
}

CDI_INLINE Error taken(const ClaimedDevice& device, const Claim& claim, const ClaimedDevice& its) {
  const auto reject = [&](const std::string& why) {
    return claim_conflict(why + ": unprepare claim " + claim.uid + " first");
  };
  const auto uid = claim.name.empty()
                       ? claim.uid
                       : claim.uid + " (" + cdi::quoted(claim.name_space + "/" + claim.name) + ")";
  if (device.name != its.name) {
    return reject("device " + names_of(device) + " cannot be assigned while claim " + uid +
                  " has " + its.name);
  }
  const bool same_name = device.requested.empty() || device.requested == device.name;
  if (same_name) return reject("claim " + uid + " has device " + device.name);
  return reject("device " + device.requested + " is " + device.name + ", which claim " + uid +
                " has");
}

}  // namespace detail

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_INL
