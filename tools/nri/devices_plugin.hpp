// The plugin that gives containers their devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "existing.hpp"
#include "injection.hpp"
#include "log.hpp"
#include "protocol/plugin.hpp"
#include "worker.hpp"

namespace nri {

/// Injects the devices that pods request by annotation, into containers as they are created.
class DevicesPlugin {
 public:
  DevicesPlugin(Settings settings, Log log);

  /// The functions of the plugin, which refer to this object.
  void add_to(Plugin& plugin);

 private:
  using Milliseconds = std::chrono::milliseconds;

  /// No container waits when the plugin starts.
  static constexpr Milliseconds max_start{1000};

  /// The file from which a runtime configures a plugin that it launches.
  static constexpr const char* launched_config = "/etc/nri/conf.d/cdi-nri.conf";

  void use(const Settings& settings, const RuntimeFacts& runtime);

  cdi::Result<void> configure(const ConfigureRequest& request);

  /// What a call in the worker's thread returns; no value until it is done.
  template <class Value>
  struct InTime {
    std::optional<Value> value{};
    JobEnd end = JobEnd::done;
  };

  /// Runs `work` in the worker's thread and returns its result, unless it takes too long, as when a
  /// file system hangs. `work` must own everything it uses, because it may outlive this call.
  template <class Work>
  auto in_time(Milliseconds limit, Work work)
      -> InTime<std::invoke_result_t<Work, const Surroundings&>> {
    struct Outcome {
      std::optional<std::invoke_result_t<Work, const Surroundings&>> value{};
      std::exception_ptr thrown{};
    };
    auto outcome = std::make_shared<Outcome>();
    const auto end = worker_.run_within(limit, [outcome, work = std::move(work), around = around_] {
      try {
        outcome->value = work(*around);
      } catch (...) {
        outcome->thrown = std::current_exception();
      }
    });
    if (end != JobEnd::done) return {.end = end};
    if (outcome->thrown) std::rethrow_exception(outcome->thrown);
    return {.value = std::move(outcome->value)};
  }

  /// Reads the specs in advance, so that the next request need not wait.
  void read_specs(Milliseconds limit);

  /// Reports a running container whose requested devices were never injected, for example because
  /// no plugin was running.
  void report(const PodSandbox& pod, const Container& container);

  struct Answer {
    Injection injection{};
    ContainerAdjustment adjustment{};
  };

  /// The answer of `inject`; an error if it takes too long.
  cdi::Result<Answer> answer_in_time(const CreateContainerRequest& request,
                                     std::vector<cdi::RequestedDevice> requested);

  /// Reports annotations of a pod that look like requests but are not. A pod may have thousands.
  /// Returns the text about the first, for an event of the pod.
  std::string report_ignored(const CreateContainerRequest& request) const;

  cdi::Result<void> create(const CreateContainerRequest& request, ContainerAdjustment& out);

  Settings given_;  // without those in the runtime's configuration
  Log log_;
  std::shared_ptr<const Surroundings> around_ = std::make_shared<Surroundings>();
  ExistingPods existing_{};
  bool gave_up_ = false;  // to report existing containers
  Milliseconds limit_{given_.answer_limit};
  Worker worker_{};
};

}  // namespace nri
