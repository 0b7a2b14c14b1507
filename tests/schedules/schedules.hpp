// Explores the schedules of two processes of a model host: all interleavings, kills and power cuts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model_host.hpp"

namespace model {

/// What two processes do, and what must be true afterwards.
class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual ~Scenario() = default;

  virtual void set_up() = 0;
  virtual void work(int process) = 0;
  /// What the next process does that starts, after both have ended.
  virtual void recover(bool rebooted) = 0;
  /// Checks the files after the recovery.
  virtual void check() = 0;

  /// The first thing that was wrong; empty if all is well.
  std::string fault{};

 protected:
  void expect(bool good, const std::string& otherwise) {
    if (!good && fault.empty()) fault = otherwise;
  }
};

/// How a turn of a process ends.
enum class End : std::uint8_t { other_runs, killed, power_cut };

struct Turn {
  int process;
  std::size_t steps;
  End end = End::other_runs;
  Left left = Left::everything;  // by the power cut
};

using Schedule = std::vector<Turn>;

/// What was explored, until the first fault.
struct Explored {
  std::size_t schedules = 0;
  std::size_t steps = 0;
  std::size_t kills = 0;
  std::size_t power_cuts = 0;
  std::string fault{};  ///< with the steps that lead there
};

/// Explores by replay: each schedule begins with new files. A schedule fixes the first turns; then
/// a process runs until it waits or ends, then the other one, until both have ended. All schedules
/// that begin with these turns and differ in one more follow from the steps of that run.
class Exploration {
 public:
  using Make = std::function<std::unique_ptr<Scenario>()>;

  explicit Exploration(Make make) : make_{std::move(make)} {}

  /// Explores all schedules with at most `events` switches from a process that could go on, kills
  /// and power cuts.
  Explored explore(int events) {
    for (const int first : {0, 1}) explore({}, first, events);
    return std::move(explored_);
  }

 private:
  struct Stretch {
    int process;
    std::vector<Effect> steps;
    bool is_other_there;  // so that it can run instead
  };

  void explore(const Schedule& begin, int next, int events) {
    const auto rest = run(begin, next, false);
    if (events == 0 || !explored_.fault.empty()) return;
    auto schedule = begin;
    for (std::size_t i = 0; i < rest.size() && explored_.fault.empty(); ++i) {
      const auto& [process, steps, is_other_there] = rest[i];
      for (std::size_t done = 0; done < steps.size(); ++done) {
        branch(schedule, {process, done}, rest[i], events - 1);
        if (!explored_.fault.empty()) return;
      }
      schedule.push_back({process, steps.size()});
    }
    if (!rest.empty()) explore_power_cuts(schedule);
  }

  /// Explores what can happen after some steps of a stretch.
  void branch(Schedule schedule, Turn turn, const Stretch& stretch, int events) {
    const auto effect = stretch.steps[turn.steps];
    const int other = 1 - turn.process;
    schedule.push_back(turn);
    if (turn.steps > 0 && stretch.is_other_there) explore(schedule, other, events);
    if (effect == Effect::none) return;
    explore_power_cuts(schedule);
    if (effect == Effect::syncs) return;
    schedule.back().end = End::killed;
    explore(schedule, other, events);
  }

  /// Explores a schedule that ends with a power cut.
  void explore_power_cuts(Schedule schedule) {
    schedule.back().end = End::power_cut;
    for (const auto what : {Left::nothing, Left::names, Left::everything}) {
      schedule.back().left = what;
      if (explored_.fault.empty()) run(schedule, 0, false);
    }
  }

  /// Runs a schedule. Returns the stretches after its turns.
  std::vector<Stretch> run(const Schedule& schedule, int next, bool traces) {
    ModelHost own_host;
    const auto scenario = make_();
    host = &own_host;
    own_host.traces = traces;
    scenario->set_up();
    own_host.files.sync_all();
    for (const int process : {0, 1}) {
      own_host.set_work(process, [&scenario, process] { scenario->work(process); });
    }
    bool is_cut = false;
    for (const auto& turn : schedule) is_cut = take(turn) || is_cut;
    const auto rest = finish(next);
    scenario->recover(is_cut);
    if (scenario->fault.empty()) scenario->check();
    host = nullptr;
    ++explored_.schedules;
    explored_.steps += own_host.now;
    if (traces) {
      explored_.fault = scenario->fault + "\n" + own_host.trace;
    } else if (!scenario->fault.empty() && explored_.fault.empty()) {
      run(schedule, next, true);
    }
    return rest;
  }

  /// Whether the turn ends with a power cut.
  bool take(const Turn& turn) {
    host->resume(turn.process, turn.steps);
    switch (turn.end) {
      case End::other_runs: return false;
      case End::killed:
        host->note("killed");
        host->kill(turn.process);
        ++explored_.kills;
        return false;
      case End::power_cut:
        host->note("power cut");
        host->cut_power(turn.left);
        ++explored_.power_cuts;
    }
    return true;
  }

  /// Lets both processes run to their end.
  static std::vector<Stretch> finish(int next) {
    std::vector<Stretch> rest;
    while (!host->has_ended(0) || !host->has_ended(1)) {
      if (host->has_ended(next)) next = 1 - next;
      const bool is_other_there = !host->has_ended(1 - next);
      rest.push_back({next, host->resume(next, ModelHost::no_limit), is_other_there});
      next = 1 - next;
    }
    return rest;
  }

  Make make_;
  Explored explored_{};
};

}  // namespace model
