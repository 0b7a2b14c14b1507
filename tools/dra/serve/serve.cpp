// `cdi-dra serve`: a driver on its node, until it is stopped.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "serve.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <sys/signalfd.h>
#include <utility>

#include <cdi/files/descriptor.hpp>

#include "../../gpu/slices/resource_slices.hpp"
#include "../../gpu/vendors/nvml_library.hpp"
#include "../../kit/base/one_line.hpp"
#include "../../kit/host/termination.hpp"
#include "../api_server/http_client.hpp"
#include "../claims/claim_folder.hpp"
#include "../claims/node_claims.hpp"
#include "../cluster.hpp"
#include "../device_plugin/device_plugin.hpp"
#include "../driver.hpp"
#include "../log.hpp"
#include "../socket_names.hpp"

namespace dra {

namespace {

/// The source of claims.
struct Source {
  std::unique_ptr<ClaimSource> folder{};
  std::unique_ptr<Cluster> cluster{};  // without a folder

  ClaimSource& claims() const { return folder ? *folder : cluster->claims(); }
};

/// Opens the folder of claims, or else a client of the API server. Sends no request.
cdi::Result<Source> open_source(const Settings& settings, const Log& log) {
  Source out;
  if (!settings.claims.empty()) {
    out.folder = std::make_unique<ClaimFolder>(settings.claims, settings.driver);
    return out;
  }
  if (!HttpClient::is_available()) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = "this build of cdi-dra has no libcurl, so it knows no API server",
                      .advice = "give --claims, or build it with libcurl"};
  }
  auto access = access_to_api(settings.kubeconfig);
  if (!access) return std::move(access).error();
  prepare::SliceOptions whose{.driver = settings.driver, .node = settings.node};
  out.cluster = std::make_unique<Cluster>(std::move(*access), std::move(whose), log);
  return out;
}

/// A signalfd for SIGHUP, which is blocked from now on.
cdi::Descriptor hang_up_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return cdi::Descriptor{::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
}

/// Null without --device-plugin.
std::unique_ptr<DevicePlugin> device_plugin(const Settings& settings, NodeClaims& claims,
                                            const Source& source, const Log& log) {
  if (settings.resource.empty()) return nullptr;
  PluginSettings own{.resource = settings.resource,
                     .kubelet_dir = settings.kubelet_dir,
                     .instance = settings.instance,
                     .release_after = std::chrono::duration<double>{settings.release_after}};
  auto plugin = std::make_unique<DevicePlugin>(std::move(own), claims, log);
  if (auto* const cluster = source.cluster.get()) {
    plugin->given_changed = [cluster](const std::set<std::string>& devices) {
      cluster->set_given(devices);
    };
  }
  return plugin;
}

}  // namespace

cdi::Result<void> serve(Settings settings) {
  complete(settings);
  if (const auto fault = prepare::nvml_fault(settings.host)) return *fault;
  // Threads inherit blocked signals.
  const auto ends = tools::termination_signals();
  const auto hang_ups = hang_up_signals();
  if (!ends || !hang_ups) return cdi::file_error("signalfd", "cannot wait for signals");
  std::signal(SIGPIPE, SIG_IGN);  // a log without a reader
  const Log log{settings.output == "json"};
  const auto sockets = socket_names(settings.kubelet_dir, settings.driver, settings.instance);
  if (!sockets) return sockets.error();
  const auto warnings = choose_spec_version(settings.host);
  if (!warnings) return warnings.error();
  const auto warn = [&log](const std::string& text) {
    log.write({.event = "warning", .error = tools::one_line(text)});
  };
  for (const auto& warning : *warnings) warn(warning);
  const auto source = open_source(settings, log);
  if (!source) return source.error();
  NodeClaims claims{{.driver = settings.driver,
                     .node = settings.node,
                     .state_dir = settings.state_dir,
                     .serial_lock = sockets->serial_lock},
                    settings.host,
                    source->claims()};
  claims.warned = warn;
  // Destroyed last: the driver reports claims to it.
  const auto plugin = device_plugin(settings, claims, *source, log);
  Driver driver{settings.driver, settings.node, *sockets, claims, log};
  if (source->cluster) driver.events = source->cluster->driver_events();
  if (auto started = driver.start(); !started) return started.error();
  if (auto started = plugin ? plugin->start() : cdi::Result<void>{}; !started) {
    return started.error();
  }
  const auto done = driver.run(ends, hang_ups);
  if (!done) return done.error();
  log.write({.event = "ended"});
  return {};
}

}  // namespace dra
