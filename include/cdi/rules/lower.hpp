// `lower`: converts a spec to another CDI release, and lists what is lost.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_LOWER_HPP
#define CDI_RULES_LOWER_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

// Specs for engines of another age: an engine refuses the whole of a spec file whose CDI release it
// does not know.

namespace cdi {
inline namespace CDI_ABI {

/// Something that a spec says and another release cannot say.
struct Loss {
  std::string where{};   ///< path of the member, in the spec that was given
  std::string what{};    ///< the member with its value, and since when it can be said
  std::string breaks{};  ///< what no longer works, for people

  friend bool operator==(const Loss&, const Loss&) = default;
};

/// A spec as another release writes it, with what was lost on the way.
struct Lowered {
  Spec spec{};                 ///< valid, and all of it in the release asked for
  std::vector<Loss> losses{};  ///< in the order of the field lists; a device after its members
};

/// What to do when something would be lost.
enum class Losses : std::uint8_t {
  refuse,  ///< fail, with the first loss as the error
  allow    ///< go on, and tell of each in `Lowered::losses`
};

/// A loss as an error at its place, `Errc::unsupported`, without a position. Its message:
/// `additionalGids [44] (since 0.7.0) is lost: ...`.
Error to_error(const Loss& loss);

/// A spec as an older or newer release writes it: its `cdiVersion` is that release, and what the
/// release lacks is gone. What can be said in another way is, and is no loss.
///
/// `Errc::unsupported` when something is lost, unless losses are allowed; when the release is none
/// that a spec can name, or does not allow the kind; and when no device is left. When the spec is
/// not valid, what `validate` says. The result is valid. Costs a copy of the spec.
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
