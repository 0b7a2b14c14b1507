// The command `watch`: keeps the specs up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_WATCH_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_WATCH_HPP

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/kept_options.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/directory_lock.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/host/uevents.hpp"
#include "../../gpu/model/gpu_events.hpp"
#include "../../gpu/vendors/survey.hpp"
#include "../../kit/host/termination.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "make_nodes.hpp"
#include "option_checks.hpp"
#include "output.hpp"
#include "report.hpp"
#include "selection_options.hpp"
#include "spec_lock.hpp"
#include "spec_set.hpp"
#include "verdict.hpp"
#include "write.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// The options of `watch`.
struct WatchOptions {
  double interval = 10;                                    // seconds between surveys
  std::chrono::milliseconds max_wait = prepare::max_wait;  // for the lock
};

/// Writes the specs when the host changes.
class SpecKeeper {
 public:
  SpecKeeper(const Options& options, const WatchOptions& own)
      : given_{options},
        interval_{static_cast<long>(own.interval * 1000)},
        max_wait_{own.max_wait},
        versions_{versions_from(options)} {}

  /// Surveys the host, and writes the specs if the state is stable: equal in two surveys, or in
  /// three if GPUs are changing state, because a failed GPU may remain in that state. Returns the
  /// time until the next survey. Each survey keeps the options that `write` has recorded since.
  std::chrono::milliseconds survey() {
    const auto soon = std::min(std::chrono::milliseconds{300}, interval_);
    auto lock =
        DirectoryLock::take(given_, given_.output_dir, std::exchange(directory_, Missing::stays));
    if (must_wait(lock)) return soon;
    options_ = with_recorded(given_);
    make_nodes();
    auto found = survey_host(options_, nvml_);
    if (!found) {
      report_news({Message::error(found.error())}, reported_);
      return interval_;
    }
    auto seen = model_as_json(found->inventories);
    same_surveys_ = seen == seen_ ? same_surveys_ + 1 : 1;
    seen_ = std::move(seen);
    if (same_surveys_ < 2) return soon;
    if (same_surveys_ < 3 && is_between_states(*found)) return interval_;
    const bool done = publish(std::move(*found), std::move(lock));
    return done ? interval_ : std::chrono::milliseconds{0};
  }

 private:
  /// Returns false if the directory must be made first, before another survey.
  bool publish(Survey survey, DirectoryLock lock) {
    auto choice = choose_version(survey, options_, versions_);
    auto verdict = verdict_on(survey, choice.options);
    AssessedSurvey assessed{
        .survey = std::move(survey), .verdict = std::move(verdict), .lock = std::move(lock)};
    const auto wanted = make_spec_set(assessed, std::move(choice));
    if (needs_directory(assessed, wanted)) {
      directory_ = Missing::made;
      return false;
    }
    Written written;
    static_cast<void>(update_specs(assessed, wanted, written));
    auto messages = wanted.messages;
    append(messages, messages_of(written));
    report_news(messages, reported_);
    for (const auto& [done, one] : written.specs) {
      if (done.action == cdi::Publication::Action::unchanged) continue;
      report(Message::note(fmt::format("{} {}: {}", done.path, cdi::to_string(done.action),
                                       counts_of(one.spec, assessed.survey.inventories))));
    }
    return true;
  }

  /// Whether another process holds the lock, within its time limit.
  bool must_wait(const DirectoryLock& lock) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_busy = lock.state() == DirectoryLock::State::busy;
    if (!is_busy) last_free_ = now;
    const bool goes_on = now - last_free_ >= max_wait_;
    report_news(is_busy ? Messages{busy_message(options_, goes_on)} : Messages{}, busy_);
    return is_busy && !goes_on;
  }

  void make_nodes() {
    const auto made = make_missing_nodes(options_, unmade_);
    report_news(made ? Messages{} : Messages{Message::error(made.error())}, make_error_);
  }

  /// Prints messages, unless they equal the last report.
  static void report_news(const Messages& messages, Messages& last) {
    if (messages != std::exchange(last, messages)) report(messages);
  }

  const Options& given_;
  Options options_{given_};  // and options that spec files record
  const std::chrono::milliseconds interval_;
  const std::chrono::milliseconds max_wait_;
  tools::EngineVersions versions_;
  NvmlMemory nvml_{};
  std::string seen_{};
  int same_surveys_ = 0;                // with the same result
  Missing directory_ = Missing::stays;  // when the next survey locks it
  std::chrono::steady_clock::time_point last_free_ = std::chrono::steady_clock::now();
  Messages busy_{};  // about the lock
  UnmadeNodes unmade_{};
  Messages make_error_{};  // why no node was tried
  Messages reported_{};
};

/// Waits for an event for at most `timeout`, and then until events stop: loading a driver causes
/// many. Returns false if the program should end.
inline bool wait_for_change(const cdi::Descriptor& signals, std::optional<Uevents>& uevents,
                            std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds quiet{300};
  constexpr std::chrono::seconds longest{5};  // during an event storm
  auto end = Clock::now() + timeout;
  std::optional<Clock::time_point> first_event;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    std::array<pollfd, 2> polled{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{uevents ? uevents->descriptor() : -1, POLLIN, 0}};
    const int ready =
        ::poll(polled.data(), polled.size(), static_cast<int>(std::max<long>(left, 0)));
    if (ready < 0 && errno != EINTR) report(Message::error("cannot wait for events"));
    if (ready < 0 && errno != EINTR) return false;
    if (polled[0].revents != 0) return false;
    if (left <= 0) return true;
    if (polled[1].revents == 0 || !uevents->drain()) continue;
    const auto now = Clock::now();
    if (!first_event) first_event = now;
    end = std::min(now + quiet, *first_event + longest);
  }
}

/// Whether devices may have subsystems that only a vendor file knows.
inline bool has_vendor_files(const Options& options) {
  const auto tree = open_host(options);
  return !options.vendor_files.empty() || (tree && tree->exists(vendor_directory));
}

/// Keeps the specs up to date until a signal ends the program.
inline ExitCode watch_specs(const Options& options, const WatchOptions& own) {
  const auto signals = tools::termination_signals();
  std::optional<Uevents> uevents;
  const auto matches = has_vendor_files(options) ? &concerns_any_device : &concerns_gpus;
  if (auto opened = Uevents::open(matches)) {
    uevents.emplace(std::move(*opened));
  } else {
    report(
        Message::warning(cdi::to_string(opened.error()) + ": checking the host at intervals only"));
  }
  SpecKeeper keeper{options, own};
  while (wait_for_change(signals, uevents, keeper.survey())) {
  }
  return ExitCode::done;
}

inline Run set_up_watch(CLI::App& app, Options& options) {
  auto own = std::make_shared<WatchOptions>();
  add_spec_options(app, options);
  add_content_options(app, options);
  add_survey_options(app, options);
  add_force(app, options);
  add_make_nodes(app, options);
  app.add_option("--interval", own->interval,
                 "Seconds between checks of the host when the kernel reports no event")
      ->type_name("SECONDS")
      ->check(interval_fault)
      ->capture_default_str();
  return [own](const Options& given) {
    return watch_specs(given, *own);
  };
}

inline constexpr Command watch_command{"watch", "Keep specs up to date until stopped", set_up_watch,
                                       "cdi-prepare watch --interval 60"};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_WATCH_HPP
