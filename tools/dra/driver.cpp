// Runs a driver: its sockets, and its reactions to changes of the node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "driver.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "../gpu/model/gpu_events.hpp"
#include "../gpu/model/profile.hpp"
#include "../kit/base/one_line.hpp"
#include "claim_service.hpp"
#include "registration.hpp"
#include "stale_sockets.hpp"

namespace dra {

Driver::Driver(std::string name, std::string node, SocketNames sockets, NodeClaims& claims,
               const Log& log)
    : name_{std::move(name)},
      sockets_{std::move(sockets)},
      claims_{claims},
      log_{log},
      health_{std::move(node), [this] {
                wake();
              }} {
  add_claim_service(service_methods_, claims_, log_);
  health_.add_to(service_methods_);
  add_registration(registration_methods_, name_, sockets_.service,
                   [this](const std::string& error) { note_registration(error); });
}

Driver::~Driver() {
  if (events.ending) events.ending();
  registration_.reset();
  health_.end();
  service_.reset();
}

cdi::Result<void> Driver::start() {
  wake_ = cdi::Descriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake_) return cdi::file_error("eventfd", "cannot wait for events");
  auto watch =
      FolderWatch::open({claims_.options().output_dir, sockets_.data_dir, sockets_.registry_dir});
  if (!watch) return std::move(watch).error();
  watch_.emplace(std::move(*watch));
  if (auto made = make_folders(); !made) return made;
  remove_stale_sockets(sockets_, name_);
  const auto repaired = try_repair();
  if (!repaired && repaired.error().code == cdi::Errc::invalid) return repaired;  // for ever
  if (auto listening = listen(); !listening) return listening;
  open_uevents();
  return {};
}

cdi::Result<void> Driver::run(const cdi::Descriptor& ends, const cdi::Descriptor& hang_ups) {
  survey();
  for (;;) {
    const auto mounts_and_files = watch_->polled();
    std::array<pollfd, 6> polled{pollfd{ends.get(), POLLIN, 0},
                                 pollfd{wake_.get(), POLLIN, 0},
                                 mounts_and_files[0],
                                 mounts_and_files[1],
                                 pollfd{uevents_ ? uevents_->descriptor() : -1, POLLIN, 0},
                                 pollfd{hang_ups.get(), POLLIN, 0}};
    const int ready = ::poll(polled.data(), polled.size(), milliseconds_left());
    if (ready < 0 && errno != EINTR) return cdi::file_error("poll", "cannot wait for events");
    if (ready < 0) continue;
    if (polled[0].revents != 0) return {};
    if (polled[1].revents != 0) take_wake();
    if (auto refused = refusal()) return *std::move(refused);
    if (polled[2].revents != 0 || polled[3].revents != 0) changed_folders();
    if (polled[4].revents != 0 && uevents_->drain()) plan(survey_at_, quiet);
    if (polled[5].revents != 0) take_signal(hang_ups);
    act_on_time();
  }
}

int Driver::milliseconds_left() {
  Plan first;
  for (const auto& at : {survey_at_, repair_at_, listen_at_, health_at_}) {
    if (at && (!first || *at < *first)) first = at;
  }
  if (!first) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 60'000));
}

void Driver::act_on_time() {
  if (is_due(listen_at_)) keep_listening();
  if (is_due(repair_at_)) repair();
  if (is_due(survey_at_) || is_due(health_at_)) survey();
}

cdi::Result<void> Driver::make_folders() const {
  for (const auto& folder : {sockets_.data_dir, sockets_.registry_dir}) {
    if (auto made = make_kubelet_folder(folder); !made) return made;
  }
  return {};
}

cdi::Result<void> Driver::listen() {
  if (auto listening = listen(service_, sockets_.service, service_methods_); !listening) {
    return listening;
  }
  return listen(registration_, sockets_.registration, registration_methods_);
}

cdi::Result<void> Driver::listen(std::unique_ptr<GrpcServer>& server, const std::string& path,
                                 const Methods& methods) {
  if (server && server->has_file()) return {};
  server.reset();
  auto listening = GrpcServer::listen(path, methods);
  if (!listening) return std::move(listening).error();
  server = std::move(*listening);
  log_.write({.event = "serving", .path = path});
  return {};
}

void Driver::changed_folders() {
  watch_->drain();
  if (!claims_.has_its_specs(Clock::now() + max_repair)) repair();
  keep_listening();
}

void Driver::keep_listening() {
  listen_at_.reset();
  auto done = make_folders();
  if (done) done = listen();
  if (done) return listen_fault_.clear();
  warn_once(listen_fault_, done.error());
  plan(listen_at_, retry);
}

cdi::Result<void> Driver::try_repair() {
  repair_at_.reset();
  const auto state = claims_.repair(Clock::now() + max_repair);
  if (!state) {
    warn_once(repair_fault_, state.error());
    plan(repair_at_, retry);
    return state.error();
  }
  repair_fault_.clear();
  watch_claims(*state);
  for (const auto& folder : state->new_in) log_.write({.event = "repaired", .path = folder});
  const bool are_known = !state->faults.empty() && state->faults == faults_;
  retry_faults(state->faults, are_known);
  if (!are_known) note_faults(*state);
  return {};
}

void Driver::watch_claims(const NodeClaims::State& state) {
  for (const auto& [uid, claim] : state.claims) {
    watch_->include(claim.spec_dir);
  }
}

void Driver::retry_faults(const Faults& faults, bool are_known) {
  fault_delay_ = are_known ? std::min(2 * fault_delay_, max_fault_delay) : retry;
  if (!faults.empty()) plan(repair_at_, fault_delay_);
  faults_ = faults;
}

void Driver::note_faults(const NodeClaims::State& state) const {
  for (const auto& [uid, fault] : state.faults) {
    LogLine line{.event = "failed", .error = tools::one_line(fault)};
    const auto claim = state.claims.find(uid);
    const bool is_read = claim != state.claims.end();
    log_.write(line.about({.name_space = is_read ? claim->second.name_space : "",
                           .name = is_read ? claim->second.name : "",
                           .uid = uid}));
  }
}

void Driver::open_uevents() {
  auto opened = prepare::Uevents::open(&prepare::concerns_any_device);
  if (opened) {
    uevents_.emplace(std::move(*opened));
  } else {
    warn(opened.error());
  }
}

void Driver::survey() {
  survey_at_.reset();
  health_at_.reset();
  if (health_.is_watched()) plan(health_at_, Health::interval);
  auto found = prepare::survey_host(claims_.options());
  if (!found) {  // it may be a driver root that a container makes again
    plan(survey_at_, settling);
    return warn_once(survey_fault_, found.error());
  }
  survey_fault_.clear();
  ids_.complete(*found);
  const auto profiles = prepare::profiles_named(claims_.options().profile);
  const auto changed = health_.set(device_faults(*found, profiles));
  for (const auto& [device, fault] : changed) {
    log_.write({.event = fault.empty() ? "healthy" : "unhealthy",
                .devices = {device},
                .error = tools::one_line(fault)});
  }
  health_.send();
  if (events.surveyed) events.surveyed(*found);
  // Not every change by a driver causes an event: a program makes NVIDIA's nodes.
  if (!found->complete || prepare::is_between_states(*found)) plan(survey_at_, settling);
  if (std::exchange(has_surveyed_, true)) repair();
}

void Driver::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void Driver::take_wake() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
  if (health_.is_watched()) survey();  // for a further stream
}

void Driver::take_signal(const cdi::Descriptor& signals) {
  signalfd_siginfo info = {};
  static_cast<void>(!::read(signals.get(), &info, sizeof info));
  survey();
}

void Driver::note_registration(const std::string& error) {
  if (error.empty()) {
    log_.write({.event = "registered", .path = sockets_.registration});
    if (events.registered) events.registered();
    return;
  }
  log_.write({.event = "refused", .error = tools::one_line(error)});
  const std::lock_guard lock{mutex_};
  refused_ = cdi::Error{.code = cdi::Errc::denied,
                        .message = "the kubelet refuses the driver: " + cdi::quoted(error)};
  wake();
}

std::optional<cdi::Error> Driver::refusal() {
  const std::lock_guard lock{mutex_};
  return refused_;
}

void Driver::warn_once(std::string& last, const cdi::Error& error) const {
  auto text = to_string(error);
  if (text != last) warn(text);
  last = std::move(text);
}

void Driver::warn(const std::string& text) const {
  log_.write({.event = "warning", .error = tools::one_line(text)});
}

}  // namespace dra
