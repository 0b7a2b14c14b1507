// `inject_once`: injects devices for a program that injects once and ends.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_INJECT_ONCE_HPP
#define CDI_DIRS_INJECT_ONCE_HPP

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/scan.hpp>  // IWYU pragma: export
#include <cdi/engine/apply.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Injects devices into an OCI spec, with the result and the errors of `Cache{dirs}.inject`, but
/// faster where the directories have files of other kinds: they are not parsed while all names
/// resolve without them. `dirs` are given from the lowest priority to the highest.
template <class OciSpec, class Names, HostLookup Host = SystemHost>
Result<void> inject_once(OciSpec& target, const Names& names,
                         const std::vector<std::string>& dirs = default_spec_dirs(),
                         const Host& host = {}, const ApplyOptions& options = {}) {
  return scan_spec_dirs_for(names, dirs)->inject(target, names, host, options);
}
/// The same for names in braces.
template <class OciSpec, HostLookup Host = SystemHost>
Result<void> inject_once(OciSpec& target, std::initializer_list<std::string_view> names,
                         const std::vector<std::string>& dirs = default_spec_dirs(),
                         const Host& host = {}, const ApplyOptions& options = {}) {
  return scan_spec_dirs_for(names, dirs)->inject(target, names, host, options);
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_INJECT_ONCE_HPP
