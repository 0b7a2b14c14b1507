// The bodies of <cdi/rules/loss.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_LOSS_HPP
#define CDI_RULES_IMPL_LOSS_HPP

#include <cdi/base/result.hpp>
#include <cdi/rules/loss.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE Error to_error(const Loss& loss) {
  return {.code = Errc::unsupported,
          .message = loss.what + " is lost: " + loss.breaks,
          .where = loss.where};
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_LOSS_HPP
