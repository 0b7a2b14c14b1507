// `inject_requested`: injects the devices that an OCI config asks for, and waits for them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_INJECT_REQUESTED_HPP
#define CDI_REQUESTS_INJECT_REQUESTED_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/wait_options.hpp>
#include <cdi/engine/apply.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/requests/config_requests.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What `inject_requested` injects, and how long it waits.
struct InjectRequestedOptions {
  RequestOptions requests{};  ///< where the config has its requests
  /// Until when it waits for devices that do not exist yet; without one, it does not wait.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  WaitOptions wait{};    ///< when it fails before the deadline
  ApplyOptions apply{};  ///< how it applies the edits
};

/// Injects the devices that an OCI config asks for, all or none, as the agent of a guest or a
/// wrapper of a runtime does; waits until all exist, or until the deadline. Returns what was
/// injected. A config that asks for nothing is left alone, without waiting.
///
/// After an error the config is unchanged. Errors are those of `gather_requests`, of
/// `Cache::wait_for` if there is a deadline, and of `Registry::inject`.
///
/// `Cache::inject` injects names that a program has. This function gets them from the config, and
/// waits with the registry that it then injects from. It is not a member of `Cache`: each program
/// with a cache would compile 7 % more for it.
template <class OciSpec, HostLookup Host = SystemHost>
Result<std::vector<RequestedDevice>> inject_requested(Cache& cache, OciSpec& config,
                                                      const InjectRequestedOptions& options = {},
                                                      const Host& host = {}) {
  auto requested = cdi::gather_requests(config, options.requests);
  if (!requested || requested->empty()) return requested;
  std::shared_ptr<const Registry> registry;
  if (options.deadline) {
    auto found = cache.wait_for(*requested, *options.deadline, options.wait);
    if (!found) return std::move(found).error();
    registry = *std::move(found);
  } else {
    registry = cache.registry();
  }
  auto done = registry->inject(config, *requested, host, options.apply);
  if (!done) return std::move(done).error();
  return requested;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REQUESTS_INJECT_REQUESTED_HPP
