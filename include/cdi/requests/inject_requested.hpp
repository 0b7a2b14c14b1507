// `inject_requested`: injects the devices that an OCI config requests, and waits for them.
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
  RequestOptions requests{};  ///< where the config holds its requests
  /// The end of the wait for devices that do not exist yet; no wait without a deadline.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  WaitOptions wait{};    ///< what ends the wait before the deadline
  ApplyOptions apply{};  ///< how the edits are applied
};

/// Injects the devices that an OCI config requests, all or none, as a guest's agent or a runtime
/// wrapper does, and waits until all devices exist or the deadline passes. Returns the injected
/// devices. A config without requests stays unchanged, and needs no wait.
///
/// After an error, the config is unchanged. Errors are as in `gather_requests`, in
/// `Registry::inject` and, with a deadline, in `Cache::wait_for`.
///
/// `Cache::inject` injects names that the program already has. This function takes the names from
/// the config, and injects from the registry that the wait returns. As a member of `Cache`, the
/// function would make each program with a cache cost 7 % more to compile.
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
