// The bodies of <cdi/model/spec_version.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_SPEC_VERSION_INL
#define CDI_MODEL_SPEC_VERSION_INL

#include <cdi/model/spec_version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string to_string(SpecVersion version) {
  std::string out = std::to_string(version.major);
  out.append(".").append(std::to_string(version.minor));
  out.append(".").append(std::to_string(version.patch));
  return out;
}

}  // namespace cdi

#endif  // CDI_MODEL_SPEC_VERSION_INL
