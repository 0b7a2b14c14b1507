// The verdict on a survey: the exit code, and why the run may be too early.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "verdict.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/cdi_specs/kept_options.hpp"
#include "../../gpu/model/gpu.hpp"
#include "../../gpu/model/profile.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "make_nodes.hpp"
#include "spec_lock.hpp"

namespace prepare {

namespace {

ExitCode exit_code_for(const Survey& survey, const Verdict& verdict) {
  if (!verdict.not_ready.empty()) return ExitCode::not_ready;
  if (survey.inventories.empty()) return ExitCode::done;
  const auto usable = survey.usable_count();
  if (usable == 0) return ExitCode::failed;
  return usable < survey.total_count() ? ExitCode::partial : ExitCode::done;
}

/// Whether nodes are missing whose numbers runtimes would look up.
bool lacks_requested_nodes(const Survey& survey, const Options& options) {
  if (!options.ask_host()) return false;
  const auto prepared = prepare_specs(survey, options);
  return !prepared.failed.empty() ||
         std::any_of(prepared.specs.begin(), prepared.specs.end(),
                     [](const PreparedSpec& one) { return !one.left_out.empty(); });
}

/// The exit code for a survey that fails. A directory that only specs record may be missing until a
/// driver in a container has started.
ExitCode code_of_failure(const Options& options, const cdi::Error& error) {
  return options.keep_options && error.system == ENOENT ? ExitCode::not_ready : ExitCode::failed;
}

/// The pauses of a run that waits, which says once what it waits for.
class Pauses {
 public:
  explicit Pauses(double seconds) : seconds_{seconds} {}

  /// Waits, for no longer than is left. No other run waits for this one meanwhile.
  void pause(std::string_view why, std::chrono::steady_clock::duration left, DirectoryLock& lock) {
    if (!std::exchange(is_said_, true)) {
      report(Message::note(fmt::format("waiting for at most {} seconds: {}", seconds_, why)));
    }
    lock = DirectoryLock{};
    constexpr std::chrono::milliseconds longest{100};
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(longest, left));
  }

 private:
  double seconds_;
  bool is_said_ = false;
};

/// Why a survey is not the last, although there may be no reason to be not ready.
std::string reason_to_wait(const Verdict& verdict, const Survey& survey) {
  if (!verdict.not_ready.empty()) return verdict.not_ready.front();
  return is_between_states(survey) ? "a device is changing its state"
                                   : "a device node that specs ask for is missing";
}

/// The left-out GPUs and partitions of a kind.
Messages left_out_of(const Inventory& found) {
  Messages out;
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      if (!share.left_out) continue;
      out.push_back(
          Message::left_out(fmt::format("{} {} {}{}: {}", gpu.vendor, gpu.noun, gpu.known_name(),
                                        share.suffix, share.left_out->text)));
    }
  }
  return out;
}

/// The kinds that options name and the host lacks, with the reasons.
Messages absent_kinds(const Survey& survey, const std::string& kind) {
  Messages out;
  for (const auto& one : survey.absent) {
    if (kind.empty() ? !one.is_named : one.kind != kind) continue;
    out.push_back(Message::note(
        fmt::format("no device for kind {} found on this host: {}", one.kind, one.reason)));
  }
  return out;
}

}  // namespace

Verdict verdict_on(const Survey& survey, const Options& options) {
  Verdict out;
  for (const auto& found : survey.inventories) {
    const auto profiles = profiles_named(options_for(options, found.kind).profile);
    if (auto reason = reason_not_ready(found, profiles)) {
      out.not_ready.push_back(found.kind + ": " + reason->text);
    }
  }
  for (const auto& name : survey.not_found) {
    out.not_ready.push_back(fmt::format("--device {}: no device on this host has that name: see {}",
                                        name, command_with(survey.tree, "detect", survey.place)));
    out.held_back = true;
  }
  for (const auto& fault : survey.faults) out.not_ready.push_back(fault);
  const auto usable = survey.usable_count();
  if (usable < options.expect) {
    out.not_ready.push_back(fmt::format("{} of {} expected {}s can be handed out", usable,
                                        options.expect, survey.noun()));
    out.held_back = true;
  }
  if (auto reason = unreadable_functions(survey)) {
    out.not_ready.push_back(*std::move(reason));
    out.held_back = true;
  }
  out.code = exit_code_for(survey, out);
  return out;
}

ExitCode fail(const Options& options, const cdi::Error& error) {
  report(Message::error(error));
  return code_of_failure(options, error);
}

cdi::Result<AssessedSurvey> survey_until_ready(const Options& given,
                                               std::optional<Missing> locked) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>{given.wait});
  Clock::duration lock_time = max_wait;
  NvmlMemory memory;
  auto make_nodes = given.make_nodes;
  UnmadeNodes unmade;
  Pauses pauses{given.wait};
  for (;;) {
    auto lock = locked ? lock_specs(given, *locked, lock_time) : DirectoryLock{};
    auto options = kept_options_of(given);
    options.make_nodes = make_nodes;
    if (const auto made = make_missing_nodes(options, unmade); !made) return made.error();
    if (make_nodes == MakeNodes::shown) make_nodes = MakeNodes::no;  // shown once
    auto survey = survey_host(options, memory);
    const auto left = std::max(end - Clock::now(), Clock::duration::zero());
    if (!survey) {
      const bool may_wait = code_of_failure(options, survey.error()) == ExitCode::not_ready;
      if (left == left.zero() || !may_wait) return std::move(survey).error();
      pauses.pause(cdi::to_string(survey.error()), left, lock);
      continue;
    }
    auto verdict = verdict_on(*survey, options);
    if (left == left.zero() || (verdict.not_ready.empty() && !is_between_states(*survey) &&
                                !lacks_requested_nodes(*survey, options))) {
      return AssessedSurvey{std::move(*survey),
                            std::move(verdict),
                            std::move(unmade.errors),
                            std::move(lock),
                            std::chrono::duration<double>{left}.count(),
                            std::move(options)};
    }
    pauses.pause(reason_to_wait(verdict, *survey), left, lock);
  }
}

Messages survey_messages(const AssessedSurvey& assessed, const Options& options) {
  const auto& survey = assessed.survey;
  const auto& verdict = assessed.verdict;
  Messages out;
  if (survey.hidden > 0) {
    out.push_back(Message::note(
        fmt::format("devices ignored, because this process cannot open them: {}", survey.hidden)));
  }
  const auto absent = absent_kinds(survey, options.kind);
  append(out, absent);
  const bool is_said = survey.hidden > 0 || (survey.complete && !absent.empty());
  if (survey.inventories.empty() && survey.not_found.empty() && !is_said) {
    out.push_back(Message::note(fmt::format(
        "no device{} found on this host{}", options.kind.empty() ? "" : " for kind " + options.kind,
        survey.complete || !survey.faults.empty()
            ? ""
            : ", but its PCI bus cannot be read: spec files are not changed")));
  }
  for (const auto& found : survey.inventories) {
    const auto profiles = profiles_named(options_for(options, found.kind).profile);
    for (auto& text : warnings_of(found, profiles)) {
      out.push_back(Message::warning(std::move(text)));
    }
    append(out, left_out_of(found));
  }
  for (const auto& reason : verdict.not_ready) out.push_back(Message::not_ready(reason));
  if (verdict.code == ExitCode::failed) {
    out.push_back(Message::error(std::string{nothing_to_hand_out}));
  }
  return out;
}

}  // namespace prepare
