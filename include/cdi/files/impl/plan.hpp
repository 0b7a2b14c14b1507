// The bodies of <cdi/files/plan.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_IMPL_PLAN_HPP
#define CDI_FILES_IMPL_PLAN_HPP

#include <chrono>
#include <memory>

#include <cdi/files/file.hpp>
#include <cdi/files/plan.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

CDI_INLINE std::shared_ptr<const MemberPlaces> read_places(const LoadedSpec& spec) {
  if (!spec.as_read) return nullptr;
  ReadOptions options;
  options.keep_places = true;
  options.quarantine_devices = !spec.quarantined.empty();
  options.patience = {};
  const auto again = cdi::read_spec_file(spec.path, options);
  return again && again->spec == spec.spec ? again->places : nullptr;
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_IMPL_PLAN_HPP
