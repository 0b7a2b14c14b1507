// The plugin that gives containers their devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_DEVICES_PLUGIN_HPP
#define CDI_TOOLS_NRI_DEVICES_PLUGIN_HPP

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <cdi/cache.hpp>
#include <cdi/result.hpp>

#include "../shared/base/one_line.hpp"
#include "../shared/base/sha256.hpp"
#include "existing.hpp"
#include "injection.hpp"
#include "log.hpp"
#include "protocol/plugin.hpp"
#include "worker.hpp"

namespace nri {

/// Injects the devices that pods request by annotation, into containers as they are created.
class DevicesPlugin {
 public:
  /// Reads the specs, so that the first container need not wait for it.
  DevicesPlugin(Settings settings, Log log) : given_{std::move(settings)}, log_{log} {
    use(given_);
    around_->cache->registry();
  }

  /// The functions of the plugin, which refer to this object.
  void add_to(Plugin& plugin) {
    plugin.required = true;
    plugin.configure = [this](const auto& request) {
      return configure(request);
    };
    plugin.existing_pod = [this](const auto& pod) {
      existing_.add(pod, around_->families);
    };
    plugin.existing_container = [this](const auto& container) {
      report(container);
    };
    plugin.synchronized = [this] {
      existing_ = {};
    };
    plugin.create_container = [this](const auto& request, auto& response) {
      return create(request, *response.mutable_adjust());
    };
  }

 private:
  using Milliseconds = std::chrono::milliseconds;

  /// A runtime waits for each answer, and by default drops a plugin after 2 s.
  static constexpr Milliseconds longest_answer{90};

  void use(const Settings& settings) {
    const bool same = around_->cache && around_->settings.spec_dirs == settings.spec_dirs;
    auto around = std::make_shared<Surroundings>();
    around->settings = settings;
    around->families = annotation_families(settings.prefixes);
    cdi::ReadOptions read;
    read.retry_window = Milliseconds{50};
    read.digest = [](std::string_view bytes) {
      return tools::sha256(bytes);
    };
    around->cache =
        same ? around_->cache
             : std::make_shared<cdi::Cache>(settings.spec_dirs, cdi::CacheOptions{.read = read});
    around_ = std::move(around);
  }

  cdi::Result<void> configure(const ConfigureRequest& request) {
    auto settings = given_;
    auto done = read_settings(request.config(), "the plugin's configuration", settings);
    if (done) done = check(settings);
    if (done) done = try_policy(settings);
    if (!done) return done;
    use(settings);
    auto around = std::make_shared<Surroundings>(*around_);
    around->runtime = facts_of(request);
    around_ = std::move(around);
    limit_ = longest_answer;
    if (request.request_timeout() > 0) {
      limit_ = std::min(limit_, Milliseconds{request.request_timeout() * 9 / 10});
    }
    existing_ = {};
    around_->cache->registry();
    const auto name = request.runtime_name() + " " + request.runtime_version();
    log_.write({.event = "connected", .runtime = tools::one_line(name)});
    return {};
  }

  /// Reports a running container that has requested devices in vain, for example while no plugin
  /// was there.
  void report(const Container& container) {
    const auto lacking = existing_.without_devices(container, *around_);
    if (!lacking) return;
    LogLine line{.event = "missing", .devices = lacking->devices};
    if (lacking->why) line.error = tools::one_line(to_string(*lacking->why));
    log_.write(line.about(*lacking->pod, container));
  }

  struct Answer {
    Injection injection{};
    ContainerAdjustment adjustment{};
  };

  /// The answer of `inject`, in the worker's thread; an error if it takes too long.
  cdi::Result<Answer> answer_in_time(const CreateContainerRequest& request) {
    using Outcome = cdi::Result<Answer>;
    auto outcome = std::make_shared<Outcome>(Answer{});
    const bool done = worker_.run_within(limit_, [outcome, request, around = around_] {
      Answer answer;
      try {
        auto injection = inject(request, *around, answer.adjustment);
        answer.injection = injection ? *std::move(injection) : Injection{};
        *outcome = injection ? Outcome{std::move(answer)} : Outcome{std::move(injection).error()};
      } catch (const std::exception& error) {
        *outcome = cdi::Error{.message = error.what()};
      }
    });
    if (done) return std::move(*outcome);
    return cdi::Error{
        .code = cdi::Errc::timeout,
        .message = "the specs could not be read within " + std::to_string(limit_.count()) + " ms",
        .advice = "wait for the next try; if it fails, too, check the file systems of the specs"};
  }

  cdi::Result<void> create(const CreateContainerRequest& request, ContainerAdjustment& out) {
    auto answer = answer_in_time(request);
    LogLine line;
    line.about(request.pod(), request.container());
    if (!answer) {
      line.event = "refused";
      line.error = tools::one_line(to_string(answer.error()));
      log_.write(line);
      return answer.error();
    }
    out = std::move(answer->adjustment);
    if (answer->injection.devices.empty()) return {};
    line.event = "injected";
    line.devices = std::move(answer->injection.devices);
    line.way = answer->injection.way;
    line.specs = std::move(answer->injection.specs);
    log_.write(line);
    return {};
  }

  Settings given_;  // without those in the runtime's configuration
  Log log_;
  std::shared_ptr<const Surroundings> around_ = std::make_shared<Surroundings>();
  RequestingPods existing_{};
  Milliseconds limit_ = longest_answer;
  Worker worker_{};
};

}  // namespace nri

#endif  // CDI_TOOLS_NRI_DEVICES_PLUGIN_HPP
