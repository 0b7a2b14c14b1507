// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_WATCH_COMMAND_HPP
#define CDI_PREPARE_WATCH_COMMAND_HPP

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/descriptor.hpp>
#include <cdi/result.hpp>

#include "exit_codes.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report.hpp"
#include "survey.hpp"
#include "uevents.hpp"
#include "write_command.hpp"

// Specs that stay right: written anew when the host changes.

namespace prepare {

/// Signals that end the program, as something to poll.
inline cdi::Descriptor termination_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return cdi::Descriptor{::signalfd(-1, &signals, SFD_CLOEXEC)};
}

/// Whether GPUs are between two states: some cannot be handed out, and nobody wants it so.
inline bool is_between_states(const Survey& survey) {
  const auto is_passing = [](const Gpu& gpu) {
    const auto shares = gpu.shares();
    return !gpu.lasting && std::any_of(shares.begin(), shares.end(), [](const Share& share) {
      return share.left_out.has_value();
    });
  };
  return std::any_of(
      survey.inventories.begin(), survey.inventories.end(), [&](const Inventory& found) {
        return found.not_ready || std::any_of(found.gpus.begin(), found.gpus.end(), is_passing);
      });
}

/// Writes specs as the host changes; knows what it has seen.
class Watcher {
 public:
  explicit Watcher(const Options& options) : options_{options} {}

  /// Looks at the host, and publishes what it sees. Not what is between two states, unless it is
  /// the same in two looks: a GPU that is lost stays lost.
  void look() {
    auto survey = prepare::look(options_);
    if (!survey) return say("error: " + cdi::to_string(survey.error()));
    for (auto& found : survey->inventories) add_driver_files(survey->tree, found);
    auto seen = model_as_json(survey->inventories);
    const bool settled = seen == std::exchange(seen_, seen) || !is_between_states(*survey);
    if (!settled) return say("GPUs are between two states: the specs stay as they are");
    const auto prepared = prepare_specs(*survey, options_);
    Written written;
    static_cast<void>(update_specs(*survey, prepared, options_, written));
    auto text = prepared.complaints + complaints(written);
    if (text != std::exchange(complaints_, text)) print_error(text);
    for (const auto& [done, one] : written.specs) {
      if (done.action == cdi::Publication::Action::unchanged) continue;
      say(fmt::format("{} {}: {} devices", done.path, to_text(done.action),
                      one.spec.devices.size()));
    }
  }

 private:
  static void say(const std::string& text) { complain(text); }

  const Options& options_;
  std::string seen_{};
  std::string complaints_{};
};

/// Waits at most `patience`, then lets events settle: many come when a driver is loaded. False when
/// the program is to end.
inline bool wait_for_change(const cdi::Descriptor& signals, std::optional<Uevents>& uevents,
                            std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds quiet{300};
  constexpr std::chrono::seconds longest{5};  // that a storm of events is waited out
  auto end = Clock::now() + patience;
  std::optional<Clock::time_point> first_event;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return true;
    std::array<pollfd, 2> polled{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{uevents ? uevents->descriptor() : -1, POLLIN, 0}};
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return false;
    if (polled[0].revents != 0) return false;
    if (polled[1].revents == 0 || !uevents->drain()) continue;
    const auto now = Clock::now();
    if (!first_event) first_event = now;
    end = std::min(now + quiet, *first_event + longest);
  }
}

/// Keeps the specs right until it is told to end.
inline ExitCode watch_specs(const Options& options) {
  const auto signals = termination_signals();
  std::optional<Uevents> uevents;
  if (auto opened = Uevents::open()) {
    uevents.emplace(std::move(*opened));
  } else {
    complain("warning: " + cdi::to_string(opened.error()) + ": looking now and then only");
  }
  const std::chrono::milliseconds interval{static_cast<long>(options.interval * 1000)};
  Watcher watcher{options};
  do {
    watcher.look();
  } while (wait_for_change(signals, uevents, interval));
  return ExitCode::done;
}

}  // namespace prepare

#endif  // CDI_PREPARE_WATCH_COMMAND_HPP
