// The bodies of <cdi/registry/unresolved.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_UNRESOLVED_INL
#define CDI_REGISTRY_UNRESOLVED_INL

#include <string>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string advice(const Unresolved& one) {
  if (!one.needs_version.empty() && parse_spec_version(one.needs_version)) {
    return "write cdiVersion \"" + one.needs_version + "\" into the file";
  }
  if (!one.needs_version.empty()) {
    return "the file needs a program that knows CDI " + one.needs_version + ", this one knows " +
           to_string(current_version) + ": update this one, or regenerate the file for CDI " +
           to_string(current_version);
  }
  std::string text{row_of(one.reason).advice};
  if (!is_unknown(one.reason) || one.causes.empty()) return text;
  return "if one of the named files should define it, correct that; else " + text;
}

}  // namespace cdi

#endif  // CDI_REGISTRY_UNRESOLVED_INL
