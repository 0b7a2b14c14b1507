// `validate`, `every_error`: check a spec against the rules of rules.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_VALIDATE_HPP
#define CDI_RULES_VALIDATE_HPP

#include <optional>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

// Declared only for the concept `SpecPart`.
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

/// A spec, or a part of a spec that has rules, in any storage: a device, edits, or a single edit.
template <class T>
concept SpecPart = requires(const T& value) {
  detail::is_spec_part(value);
};

/// Checks a spec or a part of a spec: a device, edits, or a single edit. The result is the first
/// broken rule that is an error for this purpose; `where` is the member's path, relative to
/// `value`. Other broken rules before that error, at most `max_warnings`, are added to `warnings`
/// unless it is null. Costs a pass over all text, and another over the members.
///
/// Errors are `Errc::invalid`, or `Errc::invalid_name` for names and kinds; `Error::rule` is the
/// rule's code. Rules for whole specs, such as `Rule::version_new_enough`, are checked only for a
/// spec.
///
/// With `CDI_COMPILED`, storages other than `Owning` and `Borrowed` also need
/// `<cdi/rules/validate.inl>`.
template <SpecPart T>
Result<void> validate(const T& value, std::vector<Error>* warnings = nullptr,
                      ValidateFor purpose = ValidateFor::reading);

/// Checks a spec or a part of a spec like `validate`, and returns all broken rules that are errors
/// for this purpose, in the order of the checks, at most `max_errors`; empty if `value` is valid.
/// For a person who corrects a spec: `validate` is cheaper. With `CDI_COMPILED`, types other than
/// `Spec` also need `<cdi/rules/validate.inl>`.
template <SpecPart T>
std::vector<Error> every_error(const T& value, std::vector<Error>* warnings = nullptr,
                               ValidateFor purpose = ValidateFor::reading);

namespace detail {

/// Validates a value whose texts are known to contain no NUL character.
template <SpecPart T>
Result<void> validate_without_nul(const T& value, std::vector<Error>* warnings,
                                  ValidateFor purpose = ValidateFor::reading);

/// What is wrong with one device of a spec.
struct DeviceFault {
  Error error{};         ///< its path begins at the device
  bool if_last = false;  ///< only if no device follows: see `Rule::version_earlier_devices`
};

/// Validates one device of a spec that declares `version`, without the rules about other devices.
/// An unknown version is not the device's fault.
template <Storage S>
std::optional<DeviceFault> fault_of(const BasicDevice<S>& device, std::string_view version);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/validate.inl>
#endif

#endif  // CDI_RULES_VALIDATE_HPP
