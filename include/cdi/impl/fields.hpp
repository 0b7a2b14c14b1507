// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_FIELDS_HPP
#define CDI_IMPL_FIELDS_HPP

#include <string>

#include <cdi/fields.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string to_string(Release release) {
  std::string out = std::to_string(release.major);
  out.append(".").append(std::to_string(release.minor));
  out.append(".").append(std::to_string(release.patch));
  return out;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_IMPL_FIELDS_HPP
