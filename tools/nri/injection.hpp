// Injects the devices that a new container requests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <memory>
#include <nri.pb.h>
#include <string>
#include <vector>

#include <cdi/host.hpp>

#include "log_line.hpp"
#include "requests.hpp"
#include "runtime_facts.hpp"
#include "settings.hpp"

namespace nri {

/// What a container got.
struct Injection {
  std::vector<std::string> devices{};
  std::string way{};  // `names`, which the runtime resolves, or `edits`; empty: nothing
  std::vector<UsedSpec> specs{};
  std::string doubt{};  // which edits the runtime may not carry out
};

/// Everything an injection depends on except the container.
struct Surroundings {
  Settings settings{};
  AnnotationFamilies families{};
  RuntimeFacts runtime{};
  std::shared_ptr<cdi::Cache> cache{};

  /// Whether containers get names instead of edits. If a policy has checked the edits, the runtime
  /// must not read others.
  bool gives_names() const;
};

/// The host of an injection. With a policy, hooks have an environment.
cdi::HostWithOptions<> host_of(const Settings& settings);

/// The devices that a container requests from this plugin, without devices that it gets from its
/// runtime.
cdi::Result<std::vector<cdi::RequestedDevice>> requested_devices(const PodSandbox& pod,
                                                                 const Container& container,
                                                                 const Surroundings& around);

/// Writes the adjustment that gives a new container the requested devices that it lacks. After an
/// error, the container must not be created.
cdi::Result<Injection> inject(const CreateContainerRequest& request,
                              std::vector<cdi::RequestedDevice> requested,
                              const Surroundings& around, ContainerAdjustment& out);

}  // namespace nri
