// `lower`: converts a spec to another CDI release, and lists what is lost.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_LOWER_HPP
#define CDI_VERSIONS_LOWER_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
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
/// Storages beside `Owning` and `Borrowed` need `<cdi/versions/lower.inl>` too when
/// `CDI_COMPILED` is defined.
template <class S>
Result<Lowered> lower(const BasicSpec<S>& spec, Release release, Losses losses = Losses::refuse);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/lower.inl>
#endif

#endif  // CDI_VERSIONS_LOWER_HPP
