// The bodies of <cdi/base/member_path.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_BASE_MEMBER_PATH_INL
#define CDI_BASE_MEMBER_PATH_INL

#include <string>

#include <cdi/base/member_path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

CDI_INLINE std::string MemberPath::text() const {
  std::string out = outer == nullptr ? "" : outer->text();
  if (!out.empty() && !key.empty()) out.append(".");
  return index == no_index ? out.append(key) : item_path(out.append(key), index);
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_BASE_MEMBER_PATH_INL
