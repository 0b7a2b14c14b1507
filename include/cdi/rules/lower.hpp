// `lower`: converts a spec to another CDI release, and lists what is lost.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_LOWER_HPP
#define CDI_RULES_LOWER_HPP

#include <cstdint>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/loss.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A spec of another release, and what was lost in the conversion.
struct Lowered {
  Spec spec{};                 ///< valid in the requested release
  std::vector<Loss> losses{};  ///< in the order of the field lists; a device after its members
};

/// What to do when something would be lost.
enum class Losses : std::uint8_t {
  refuse,  ///< fail, with the first loss as the error
  allow    ///< convert, and report each in `Lowered::losses`
};

/// Converts a spec to an older or newer release, for engines that reject files whose `cdiVersion`
/// they do not know. Members that the release lacks are removed. A member that the release can
/// express in another way is translated, and is not a loss.
///
/// `Errc::unsupported` when something is lost, unless losses are allowed; when a spec cannot name
/// the release, or the release does not allow the kind; and when no device is left. For an invalid
/// spec, the error of `validate`. The result is valid. Costs a copy of the spec.
///
/// Storages beside `Owning` and `Borrowed` need `<cdi/rules/impl/lower.hpp>` too when
/// `CDI_COMPILED` is defined.
template <class S>
Result<Lowered> lower(const BasicSpec<S>& spec, Release release, Losses losses = Losses::refuse);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/lower.hpp>
#endif

#endif  // CDI_RULES_LOWER_HPP
