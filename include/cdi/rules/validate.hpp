// `validate`: checks a spec against the rules of rules.hpp.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_VALIDATE_HPP
#define CDI_RULES_VALIDATE_HPP

#include <cstdint>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What a spec is validated for.
enum class Purpose : std::uint8_t {
  read,   ///< to be used as it is
  write,  ///< to be written: a `Severity::write_error` is an error, and not a warning
};

namespace detail {

// What `SpecPart` asks for; no bodies.
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

/// What the rules can be looked at for: a spec, or a part of one.
template <class T>
concept SpecPart = requires(const T& value) {
  detail::is_spec_part(value);
};

}  // namespace detail

/// Checks a spec, or a part of one: a device, edits, one edit. The first rule broken whose severity
/// is an error for this purpose is the error; its `where` is the path of the member, seen from the
/// value given. Other broken rules are put into `warnings`, if given, up to that error, at most
/// `most_warnings`. Costs one pass.
///
/// Errors are `Errc::invalid`, or `Errc::invalid_name` for names and kinds; `Error::rule` tells
/// which rule. A part is checked by the rules on it alone: what the whole spec decides, such as
/// `Rule::version_new_enough`, only a spec is asked.
///
/// Storages beside `Owning` and `Borrowed` need `<cdi/rules/impl/validate.hpp>` too when
/// `CDI_COMPILED` is defined.
template <detail::SpecPart T>
Result<void> validate(const T& value, std::vector<Error>* warnings = nullptr,
                      Purpose purpose = Purpose::read);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/validate.hpp>
#endif

#endif  // CDI_RULES_VALIDATE_HPP
