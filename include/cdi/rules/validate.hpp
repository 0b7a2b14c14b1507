// `validate`: checks a spec against the rules of rules.hpp.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_VALIDATE_HPP
#define CDI_RULES_VALIDATE_HPP

#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

// For `SpecPart`; without bodies.
template <class S>
void is_spec_part(const BasicSpec<S>&);
template <class S>
void is_spec_part(const BasicDevice<S>&);
template <class S>
void is_spec_part(const BasicContainerEdits<S>&);
template <class S>
void is_spec_part(const BasicDeviceNode<S>&);
template <class S>
void is_spec_part(const BasicNetDevice<S>&);
template <class S>
void is_spec_part(const BasicHook<S>&);
template <class S>
void is_spec_part(const BasicMount<S>&);
template <class S>
void is_spec_part(const BasicIntelRdt<S>&);

}  // namespace detail

/// A spec, or a part of one that has rules, of any storage: a device, edits, or one edit.
template <class T>
concept SpecPart = requires(const T& value) {
  detail::is_spec_part(value);
};

/// Checks a spec, or a part of one: a device, edits, one edit. The first broken rule that is an
/// error for this purpose is the error; its `where` is the path of the member, seen from the given
/// value. Other broken rules, up to that error and at most `most_warnings`, are added to `warnings`
/// when it is given. Costs a pass over all text, and one over the members.
///
/// Errors are `Errc::invalid`, or `Errc::invalid_name` for names and kinds; `Error::rule` is the
/// code of the rule. Rules on the whole spec, such as `Rule::version_new_enough`, are checked for a
/// spec only.
///
/// Storages beside `Owning` and `Borrowed` need `<cdi/rules/validate.inl>` too when
/// `CDI_COMPILED` is defined.
template <SpecPart T>
Result<void> validate(const T& value, std::vector<Error>* warnings = nullptr,
                      Purpose purpose = Purpose::read);

namespace detail {

/// The same for a value whose texts have no NUL character, which is not checked again.
template <SpecPart T>
Result<void> validate_without_nul(const T& value, std::vector<Error>* warnings,
                                  Purpose purpose = Purpose::read);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/validate.inl>
#endif

#endif  // CDI_RULES_VALIDATE_HPP
