// The command `watch`: keeps the specs up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <poll.h>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/cdi_specs/kept_options.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/model/gpu_events.hpp"
#include "../../gpu/vendor_files/vendor_files.hpp"
#include "../../kit/host/termination.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "option_checks.hpp"
#include "report.hpp"
#include "selection_options.hpp"
#include "spec_set.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// Keeps the specs up to date until a signal ends the program.
ExitCode watch_specs(const Options& options, const WatchOptions& own) {
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

Run set_up_watch(CLI::App& app, Options& options) {
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

}  // namespace

std::chrono::milliseconds SpecKeeper::survey() {
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

bool SpecKeeper::publish(Survey survey, DirectoryLock lock) {
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

bool SpecKeeper::must_wait(const DirectoryLock& lock) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_busy = lock.state() == DirectoryLock::State::busy;
  if (!is_busy) last_free_ = now;
  const bool goes_on = now - last_free_ >= max_wait_;
  report_news(is_busy ? Messages{busy_message(options_, goes_on)} : Messages{}, busy_);
  return is_busy && !goes_on;
}

void SpecKeeper::make_nodes() {
  const auto made = make_missing_nodes(options_, unmade_);
  report_news(made ? Messages{} : Messages{Message::error(made.error())}, make_error_);
}

void SpecKeeper::report_news(const Messages& messages, Messages& last) {
  if (messages != std::exchange(last, messages)) report(messages);
}

bool wait_for_change(const cdi::Descriptor& signals, std::optional<Uevents>& uevents,
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

bool has_vendor_files(const Options& options) {
  const auto tree = open_host(options);
  return !options.vendor_files.empty() || (tree && tree->exists(vendor_directory));
}

constexpr Command watch_command{"watch", "Keep specs up to date until stopped", set_up_watch,
                                "cdi-prepare watch --interval 60"};

}  // namespace prepare
