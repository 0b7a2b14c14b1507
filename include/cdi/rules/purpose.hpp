// `Purpose`: what a spec is validated for.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_PURPOSE_HPP
#define CDI_RULES_PURPOSE_HPP

#include <cstdint>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The purpose of a validation.
enum class Purpose : std::uint8_t {
  read,   ///< to use the spec
  write,  ///< to write it: a `Severity::write_error` is an error, and not a warning
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_PURPOSE_HPP
