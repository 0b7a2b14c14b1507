// The bodies of <cdi/plan/plan_of_files.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_PLAN_OF_FILES_INL
#define CDI_PLAN_PLAN_OF_FILES_INL

#include <chrono>
#include <memory>

#include <cdi/files/file.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/plan/plan_of_files.hpp>
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

#endif  // CDI_PLAN_PLAN_OF_FILES_INL
