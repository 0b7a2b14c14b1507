// The bodies of <cdi/dirs/scan.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_SCAN_HPP
#define CDI_DIRS_IMPL_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/dirs/scan.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                                          const ReadOptions& options) {
  return detail::Scanner{options}.scan(paths, nullptr, detail::ScanScope::everything)->registry;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_SCAN_HPP
