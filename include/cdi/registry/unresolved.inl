// The bodies of <cdi/registry/unresolved.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_UNRESOLVED_INL
#define CDI_REGISTRY_UNRESOLVED_INL

#include <cdi/model/spec.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/minimum_version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string advice(const Unresolved& one) {
  if (!one.needs_version.empty() && parse_spec_version(one.needs_version)) {
    return "set cdiVersion to \"" + one.needs_version + "\" in the file";
  }
  if (!one.needs_version.empty()) {
    return "the file requires CDI " + one.needs_version + ", but this program supports CDI " +
           to_string(current_version) + ": update the program, or regenerate the file for CDI " +
           to_string(current_version);
  }
  std::string text{row_of(one.reason).advice};
  if (!is_unknown(one.reason) || one.causes.empty()) return text;
  return "if one of the listed files should define the device, correct it; otherwise, " + text;
}

}  // namespace cdi

#endif  // CDI_REGISTRY_UNRESOLVED_INL
