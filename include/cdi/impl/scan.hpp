// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_SCAN_HPP
#define CDI_IMPL_SCAN_HPP

#include <memory>
#include <string>
#include <vector>

#include <cdi/read_options.hpp>
#include <cdi/registry.hpp>
#include <cdi/scan.hpp>
#include <cdi/scanner.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                                          const ReadOptions& options) {
  return detail::Scanner{options}.scan(paths, nullptr, detail::LookAt::everything)->registry;
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_IMPL_SCAN_HPP
