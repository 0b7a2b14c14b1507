// `lower`: converts a spec to another CDI release, and lists the losses.
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
  std::string where{};   ///< the path of the member in the original spec
  std::string what{};    ///< the member with its value, and the release that introduced it
  std::string breaks{};  ///< what no longer works, for people

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// Returns a loss as an `Errc::unsupported` error with a path, but without a position. The message
/// reads: `additionalGids [44] (since 0.7.0) is lost: ...`.
Error to_error(const Loss& loss);

/// A spec in another release, and the losses of the conversion.
struct Lowered {
  Spec spec{};                 ///< valid in the requested release
  std::vector<Loss> losses{};  ///< in the order of the field lists; a device follows its members
};

/// What to do when something would be lost.
enum class Losses : std::uint8_t {
  refuse,  ///< fail, with the first loss as the error
  allow    ///< convert, and report each loss in `Lowered::losses`
};

/// Converts a spec to an older or newer release, for engines that reject files with an unknown
/// `cdiVersion`. Members that the release lacks are removed. A member that the release can express
/// in another way is translated, and is not a loss.
///
/// `Errc::unsupported` reports a loss, unless losses are allowed, a release that no spec can have
/// or that does not allow the kind, or a result without devices. An invalid spec fails as in
/// `validate`. The result is valid. The cost is one copy of the spec.
///
/// Storages other than `Owning` and `Borrowed` also need `<cdi/versions/lower.inl>` when
/// `CDI_COMPILED` is defined.
template <class S>
Result<Lowered> lower(const BasicSpec<S>& spec, Release release, Losses losses = Losses::refuse);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/lower.inl>
#endif

#endif  // CDI_VERSIONS_LOWER_HPP
