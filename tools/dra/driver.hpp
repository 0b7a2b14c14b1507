// Runs a driver: its sockets, and its reactions to changes of the node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <cdi/files/descriptor.hpp>

#include "../gpu/host/uevents.hpp"
#include "../gpu/slices/id_memory.hpp"
#include "../gpu/survey/survey.hpp"
#include "claims/node_claims.hpp"
#include "folder_watch.hpp"
#include "health_service.hpp"
#include "log.hpp"
#include "protocol/grpc_server.hpp"
#include "socket_names.hpp"

namespace dra {

/// What other parts of the program do when the node changes. Called by the thread of `Driver::run`,
/// except `registered`. May be empty.
struct DriverEvents {
  std::function<void()> registered{};  // by the kubelet, each time
  std::function<void(const prepare::Survey&)> surveyed{};
  std::function<void()> ending{};  // handlers of calls may not wait longer than `GrpcServer::grace`
};

/// A driver with its sockets. Its output and the claims belong to other objects, which must outlive
/// it.
class Driver {
 public:
  Driver(std::string name, std::string node, SocketNames sockets, NodeClaims& claims,
         const Log& log);

  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The sockets are removed in the order that the kubelet wants.
  ~Driver();

  DriverEvents events{};

  /// Writes the specs of all claims, and listens: first for claims, then for registration.
  cdi::Result<void> start();

  /// Serves until `ends` is readable, or the kubelet refuses the driver, which is an error. Looks
  /// at the hardware when `hang_ups`, a signalfd, is readable.
  cdi::Result<void> run(const cdi::Descriptor& ends, const cdi::Descriptor& hang_ups);

 private:
  using Clock = std::chrono::steady_clock;
  using Plan = std::optional<Clock::time_point>;
  using Faults = std::map<std::string, std::string>;      // by UID
  static constexpr std::chrono::milliseconds quiet{300};  // loading a driver causes many events
  static constexpr std::chrono::seconds settling{10};     // of devices that may become ready
  static constexpr std::chrono::seconds retry{1};
  static constexpr std::chrono::seconds max_repair{1};
  static constexpr std::chrono::seconds max_fault_delay{16};

  static void plan(Plan& at, Clock::duration delay) { at = Clock::now() + delay; }

  static bool is_due(const Plan& at) { return at && *at <= Clock::now(); }

  int milliseconds_left();

  void act_on_time();

  // Folders and sockets.

  cdi::Result<void> make_folders() const;

  cdi::Result<void> listen();

  /// Listens, unless it already does.
  cdi::Result<void> listen(std::unique_ptr<GrpcServer>& server, const std::string& path,
                           const Methods& methods);

  void changed_folders();

  void keep_listening();

  // Claims.

  void repair() { static_cast<void>(try_repair()); }

  /// Failures are logged, and tried again.
  cdi::Result<void> try_repair();

  /// Claims keep the folder of their spec when the driver starts with another one.
  void watch_claims(const NodeClaims::State& state);

  /// The cause of a fault may end without an event: only this driver makes a spec directory again
  /// that was removed during a write.
  void retry_faults(const Faults& faults, bool are_known);

  void note_faults(const NodeClaims::State& state) const;

  // Devices.

  void open_uevents();

  /// Surveys the hardware, and adapts the specs of claims.
  void survey();

  // Other threads.

  void wake() const;

  void take_wake();

  void take_signal(const cdi::Descriptor& signals);

  void note_registration(const std::string& error);

  std::optional<cdi::Error> refusal();

  /// Warns, unless `last` was the same: a failure in each second would fill the log.
  void warn_once(std::string& last, const cdi::Error& error) const;

  void warn(const cdi::Error& error) const { warn(to_string(error)); }
  void warn(const std::string& text) const;

  const std::string name_;
  const SocketNames sockets_;
  NodeClaims& claims_;
  const Log& log_;
  cdi::Descriptor wake_{-1};
  Health health_;
  Methods service_methods_{};
  Methods registration_methods_{};
  std::optional<FolderWatch> watch_{};
  std::optional<prepare::Uevents> uevents_{};
  std::unique_ptr<GrpcServer> service_{};
  std::unique_ptr<GrpcServer> registration_{};
  Plan survey_at_{};  // after events
  Plan health_at_{};  // while a kubelet watches
  bool has_surveyed_ = false;
  prepare::IdMemory ids_{};
  Plan repair_at_{};  // after a failed one, or one with faults left
  Plan listen_at_{};  // after a failure
  Faults faults_{};
  std::chrono::seconds fault_delay_{retry};
  std::string repair_fault_{}, listen_fault_{}, survey_fault_{};  // the logged ones
  std::mutex mutex_{};
  std::optional<cdi::Error> refused_{};
};

}  // namespace dra
