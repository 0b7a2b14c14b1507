// `to_version`: converts a spec to another CDI version, and lists the losses.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VERSIONS_TO_VERSION_HPP
#define CDI_VERSIONS_TO_VERSION_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A part of a spec that another version cannot express.
struct Loss {
  std::string where{};   ///< the path of the member in the original spec
  std::string what{};    ///< the member with its value, and the version that introduced it
  std::string breaks{};  ///< what no longer works, for people

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// Returns a loss as an `Errc::unsupported` error with a path, but without a position. The message
/// reads: `additionalGids [44] (since 0.7.0) is lost: ...`.
Error to_error(const Loss& loss);

/// A spec in another version, and the losses of the conversion.
struct ConvertedSpec {
  Spec spec{};                 ///< valid in the requested version
  std::vector<Loss> losses{};  ///< in the order of the field lists; a device follows its members
};

/// What to do when something would be lost.
enum class Losses : std::uint8_t {
  reject,  ///< fail, with the first loss as the error
  allow    ///< convert, and report each loss in `ConvertedSpec::losses`
};

/// Converts a spec to an older or newer version, for engines that reject files with an unknown
/// `cdiVersion`. Members that the version lacks are removed. A member that the version can express
/// in another way is translated, and is not a loss.
///
/// Fails with `Errc::unsupported` for a loss, unless losses are allowed, for a version that no spec
/// can have or that forbids the kind, and for a result without devices, and fails like `validate`
/// for an invalid spec. The result is valid. Costs one copy of the spec.
///
/// Storages other than `Owning` and `Borrowed` also need `<cdi/versions/to_version.inl>` when
/// `CDI_COMPILED` is defined.
template <class S>
Result<ConvertedSpec> to_version(const BasicSpec<S>& spec, SpecVersion version,
                                 Losses losses = Losses::reject);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/to_version.inl>
#endif

#endif  // CDI_VERSIONS_TO_VERSION_HPP
