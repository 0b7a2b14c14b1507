// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_MEMBER_PATH_HPP
#define CDI_IMPL_MEMBER_PATH_HPP

#include <string>

#include <cdi/member_path.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE std::string MemberPath::text() const {
  std::string out = outer == nullptr ? "" : outer->text();
  if (!out.empty() && !key.empty()) out.append(".");
  return index == no_index ? out.append(key) : item_path(out.append(key), index);
}

}  // namespace cdi::inline CDI_ABI::detail

#endif  // CDI_IMPL_MEMBER_PATH_HPP
