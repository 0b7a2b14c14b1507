// The plugin that gives containers their devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "devices_plugin.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "../kit/base/one_line.hpp"
#include "../kit/base/sha256.hpp"
#include "ignored_requests.hpp"

namespace nri {

DevicesPlugin::DevicesPlugin(Settings settings, Log log) : given_{std::move(settings)}, log_{log} {
  use(given_, {});
  read_specs(max_start);
}

void DevicesPlugin::add_to(Plugin& plugin) {
  plugin.required = true;
  plugin.configure = [this](const auto& request) {
    return configure(request);
  };
  plugin.existing_pod = [this](const auto& pod) {
    existing_.add(pod, around_->families);
  };
  const auto report_one = [this](const PodSandbox& pod, const Container& container) {
    report(pod, container);
  };
  plugin.existing_container = [this, report_one](const auto& container) {
    if (!gave_up_) existing_.add(container, report_one);
  };
  plugin.synchronized = [this, report_one] {
    existing_.end(report_one);
  };
  plugin.create_container = [this](const auto& request, auto& response) {
    return create(request, *response.mutable_adjust());
  };
}

void DevicesPlugin::use(const Settings& settings, const RuntimeFacts& runtime) {
  const bool same = around_->cache && around_->settings.spec_dirs == settings.spec_dirs;
  auto around = std::make_shared<Surroundings>();
  around->settings = settings;
  around->families = annotation_families(settings.prefixes);
  around->runtime = runtime;
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

cdi::Result<void> DevicesPlugin::configure(const ConfigureRequest& request) {
  auto settings = given_;
  auto done = read_settings(request.config(), launched_config, settings);
  if (done) done = check(settings);
  if (!done) return done;
  use(settings, facts_of(request));
  limit_ = Milliseconds{settings.answer_limit};
  const auto timeout = request.request_timeout();
  if (timeout > 0) limit_ = std::min(limit_, Milliseconds{timeout - timeout / 10});
  existing_ = {};
  gave_up_ = settings.resolve == "never";  // without the specs, nothing is known
  read_specs(limit_);
  const auto name = request.runtime_name() + " " + request.runtime_version();
  log_.write({.event = "connected", .runtime = tools::one_line(name)});
  return {};
}

void DevicesPlugin::read_specs(Milliseconds limit) {
  in_time(limit, [](const Surroundings& around) { return around.cache->registry(); });
}

void DevicesPlugin::report(const PodSandbox& pod, const Container& container) {
  if (gave_up_) return;
  auto lacking = in_time(limit_, [pod, container](const Surroundings& around) {
    return lacking_devices(pod, container, around);
  });
  gave_up_ = !lacking.value;  // the others would take as long
  if (gave_up_ || !*lacking.value) return;
  auto& found = **lacking.value;
  LogLine line{.event = found.why ? "unknown" : "missing", .devices = std::move(found.names)};
  if (found.why) line.error = tools::one_line(to_string(*found.why));
  log_.write(about(line, pod, container));
}

cdi::Result<DevicesPlugin::Answer> DevicesPlugin::answer_in_time(
    const CreateContainerRequest& request, std::vector<cdi::RequestedDevice> requested) {
  auto outcome = in_time(limit_,
                         [request, requested = std::move(requested)](
                             const Surroundings& around) -> cdi::Result<Answer> {
                           Answer answer;
                           auto injection = inject(request, requested, around, answer.adjustment);
                           if (!injection) return std::move(injection).error();
                           answer.injection = *std::move(injection);
                           return answer;
                         });
  if (outcome.value) return *std::move(outcome.value);
  const std::string what = outcome.end == JobEnd::late
                               ? "the edits of the devices were not ready within "
                               : "earlier work, such as reading the specs, was not done within ";
  return cdi::Error{
      .code = cdi::Errc::timeout,
      .message = what + std::to_string(limit_.count()) + " ms",
      .advice =
          "wait for the next try; if it fails, too, check the file systems of the specs, or "
          "give cdi-nri a longer --answer-limit"};
}

std::string DevicesPlugin::report_ignored(const CreateContainerRequest& request) const {
  constexpr std::size_t most = 10;
  const auto ignored = ignored_requests(request.pod(), request.container(), around_->families);
  const auto write = [&](std::string error) {
    LogLine line{.event = "ignored", .error = std::move(error)};
    log_.write(about(line, request.pod(), request.container()));
  };
  const auto text_of = [](const IgnoredRequest& one) {
    return "annotation " + cdi::quoted(one.key) + " requests nothing: " + one.advice;
  };
  for (const auto& one : std::span{ignored}.first(std::min(ignored.size(), most))) {
    write(text_of(one));
  }
  if (ignored.size() > most) {
    write(std::to_string(ignored.size() - most) + " more annotations request nothing");
  }
  return ignored.empty() ? std::string{} : text_of(ignored.front());
}

cdi::Result<void> DevicesPlugin::create(const CreateContainerRequest& request,
                                        ContainerAdjustment& out) {
  const auto ignored = report_ignored(request);
  auto requested = requested_devices(request.pod(), request.container(), *around_);
  // A container that requests nothing need not wait for file systems.
  if (requested && requested->empty()) return {};
  auto answer = requested ? answer_in_time(request, *std::move(requested))
                          : cdi::Result<Answer>{std::move(requested).error()};
  LogLine line;
  about(line, request.pod(), request.container());
  if (!answer) {
    line.event = "refused";
    line.error = tools::one_line(to_string(answer.error()));
    log_.write(line);
    // Only the error of a container becomes an event of its pod.
    if (!ignored.empty()) answer.error().message.append("; ").append(ignored);
    return answer.error();
  }
  if (answer->injection.way.empty()) return {};  // the container got everything
  out = std::move(answer->adjustment);
  line.event = answer->injection.way == "names" ? "passed" : "injected";
  line.devices = std::move(answer->injection.devices);
  line.way = answer->injection.way;
  line.specs = std::move(answer->injection.specs);
  line.error = std::move(answer->injection.doubt);
  log_.write(line);
  return {};
}

}  // namespace nri
