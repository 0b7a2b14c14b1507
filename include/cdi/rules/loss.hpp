// `Loss`: a part of a spec that is lost in a conversion to another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_LOSS_HPP
#define CDI_RULES_LOSS_HPP

#include <string>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A part of a spec that another release cannot express.
struct Loss {
  std::string where{};   ///< path of the member, in the given spec
  std::string what{};    ///< the member with its value, and the release that introduced it
  std::string breaks{};  ///< what no longer works, for people

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// A loss as an error at its place, `Errc::unsupported`, without a position. Its message:
/// `additionalGids [44] (since 0.7.0) is lost: ...`.
Error to_error(const Loss& loss);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/loss.hpp>
#endif

#endif  // CDI_RULES_LOSS_HPP
