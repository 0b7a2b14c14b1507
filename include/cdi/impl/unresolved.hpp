// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_UNRESOLVED_HPP
#define CDI_IMPL_UNRESOLVED_HPP

#include <string>

#include <cdi/minimum_version.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/unresolved.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string advice(const Unresolved& one) {
  if (!one.needs_version.empty() && parse_release(one.needs_version)) {
    return "write cdiVersion \"" + one.needs_version + "\" into the file";
  }
  if (!one.needs_version.empty()) {
    return "the file needs a program that knows CDI " + one.needs_version + ", this one knows " +
           to_string(current_release) + ": update this one, or have the file written for that";
  }
  std::string text{row_of(one.reason).advice};
  if (!is_unknown(one.reason) || one.causes.empty()) return text;
  return "if one of the files named is to define it, mend that; else " + text;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_IMPL_UNRESOLVED_HPP
