// `guest`: injects devices into a container's config as the Kata agent does in the guest.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/cache.hpp>
#include <cdi/config_json.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry.hpp>
#include <cdi/requests.hpp>

#include "answer.hpp"
#include "input.hpp"

// kata-containers 7c6ba40, src/agent/src/device/mod.rs: handle_cdi_devices.

namespace pod {

/// The options of `guest`.
struct GuestOptions {
  std::string config{};  // the path, or - for standard input
  std::vector<std::string> spec_dirs{"/var/run/cdi"};
  int timeout = 100;     // in seconds; agent.cdi_timeout
  bool visible = false;  // agent.visible_cdi_devices
  bool compatible = false;
};

/// What tells a container from the pause container of its pod.
struct ContainerType {
  static constexpr bool skips_unknown = true;
  std::map<std::string, std::string> annotations{};

  static constexpr void fields(auto& list) { list("annotations", &ContainerType::annotations); }
};

/// Whether a config belongs to a pod's pause container, into which the agent injects nothing.
inline bool is_pause_container(const cdi::Document& config) {
  const auto annotations = read_as<ContainerType>(config).annotations;
  const auto type = annotations.find("io.katacontainers.pkg.oci.container_type");
  return type != annotations.end() && type->second == "pod_sandbox";
}

inline cdi::Error timeout_error(cdi::Error why, int timeout) {
  if (why.code == cdi::Errc::timeout) {
    why.message += "; the devices did not appear within the CDI timeout of " +
                   std::to_string(timeout) + " seconds";
  }
  return why;
}

/// One attempt of the agent. Throws if the agent would fail at once: if any file has an error, even
/// an irrelevant file; if a name is not valid; or if a kind exists but the device does not.
inline bool try_as_agent(const cdi::Registry& registry, cdi::ConfigJson& config,
                         const std::vector<cdi::RequestedDevice>& requested) {
  for (const auto& error : registry.errors()) {
    if (error.code != cdi::Errc::conflict) throw Rejection{error};
  }
  const auto missing = registry.unresolved(requested);
  for (const auto& one : missing) {
    if (one.reason != cdi::Reason::unknown_kind && one.reason != cdi::Reason::no_directory) {
      throw Rejection{one.why};
    }
  }
  if (!missing.empty()) return false;
  if (const auto done = registry.inject(config, requested); !done) throw Rejection{done.error()};
  return true;
}

/// The agent's loop: `timeout` + 1 attempts, one second apart.
inline void inject_as_agent(cdi::Cache& cache, cdi::ConfigJson& config,
                            const cdi::RequestOptions& requests, int timeout) {
  const auto requested = value_or_throw(cdi::gather_requests(config, requests));
  if (requested.empty()) return;
  for (int attempt = 0; attempt <= timeout; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::seconds{1});
    if (try_as_agent(*cache.refresh(), config, requested)) return;
  }
  auto why = cache.snapshot()->require(requested).error();
  why.code = cdi::Errc::timeout;
  throw Rejection{timeout_error(std::move(why), timeout)};
}

/// Injects the devices that a config requests, and returns the config: with annotations, and if
/// `visible` is set, also with `VISIBLE_CDI_DEVICES` in the environment. Waits for the specs of
/// unknown kinds; fails at once if a kind exists but the device does not. Unlike the agent, it
/// wakes up when files change, and ignores bad files of other kinds and repeated names, unless
/// `compatible` is set.
inline std::string answer_guest(const GuestOptions& options, Answer& answer) {
  const bool from_input = options.config == "-";
  cdi::ConfigJson config{.file = from_input ? "standard input" : options.config};
  config.text =
      value_or_throw(from_input ? cdi::read_all(STDIN_FILENO, config.file, config.limits.bytes)
                                : cdi::read_file(options.config, config.limits.bytes));
  if (is_pause_container(
          value_or_throw(cdi::parse_json(config.text, config.file, config.limits)))) {
    answer.warn("the config of a pause container is left unchanged");
    return config.text;
  }
  cdi::Cache cache{options.spec_dirs};
  // An annotation without a name is an error. The agent injects a name that annotations repeat
  // again, so that its hooks run twice.
  const cdi::RequestOptions requests{
      .rules = options.compatible ? cdi::RequestRules::cri_o : cdi::RequestRules::containerd,
      .variable = options.visible ? cdi::visible_devices_variable : std::string_view{}};
  if (options.compatible) {
    inject_as_agent(cache, config, requests, options.timeout);
  } else {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{options.timeout};
    const auto done = cdi::inject_requested(cache, config,
                                            {.requests = requests,
                                             .deadline = deadline,
                                             .wait = {.quiet_period = std::chrono::seconds{0}}});
    if (!done) throw Rejection{timeout_error(done.error(), options.timeout)};
  }
  for (const auto& error : cache.snapshot()->errors()) answer.warnings.push_back(to_string(error));
  return std::move(config.text);
}

}  // namespace pod
