// The bodies of <cdi/versions/loss.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_LOSS_INL
#define CDI_VERSIONS_LOSS_INL

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>
#include <cdi/versions/loss.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE Error to_error(const Loss& loss) {
  return {.code = Errc::unsupported,
          .message = loss.what + " is lost: " + loss.breaks,
          .where = loss.where};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_VERSIONS_LOSS_INL
