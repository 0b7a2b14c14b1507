// The bodies of <cdi/model/release.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_RELEASE_INL
#define CDI_MODEL_RELEASE_INL

#include <string>

#include <cdi/model/release.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::string to_string(Release release) {
  std::string out = std::to_string(release.major);
  out.append(".").append(std::to_string(release.minor));
  out.append(".").append(std::to_string(release.patch));
  return out;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_RELEASE_INL
