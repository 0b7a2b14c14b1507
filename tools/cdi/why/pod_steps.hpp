// Records the steps from a claim to a container, and what they lack.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../base/output.hpp"
#include "../results/why.hpp"

/// The result of a step.
struct PodStep {
  /// Whether the devices of a pod pass the step.
  enum class State : std::uint8_t { ok, missing, wrong, unknown };

  State state = State::ok;
  std::string_view part{};  // of the chain: pod, claim, kubelet, driver, engine, container
  std::string message{};
  std::string advice{};
  std::string file{};  // where it was read
};

/// The answer of `cdi why --pod`, as text and as a list of records.
class PodSteps {
 public:
  using State = PodStep::State;

  void add(const PodStep& step) {
    const auto name = name_of(step.state);
    text_ += fmt::format("{}: {}: {}\n", name, step.part, printable(step.message));
    if (!step.advice.empty()) text_ += fmt::format("  fix: {}\n", printable(step.advice));
    const auto state = step_states[static_cast<std::size_t>(step.state)];
    list_.push_back({step.part, state, step.message, step.file, step.advice});
    holds_ = holds_ && (step.state == State::ok || step.state == State::unknown);
  }

  /// Adds text of another answer, after the steps so far.
  void add_text(std::string_view text) { text_ += text; }

  const std::string& text() const { return text_; }
  const std::vector<StepRecord>& list() const { return list_; }

  /// Whether no step is known to fail.
  bool holds() const { return holds_; }

 private:
  static std::string_view name_of(State state) {
    switch (state) {
      case State::missing: return "missing";
      case State::wrong: return "wrong";
      case State::unknown: return "not checked";
      case State::ok: break;
    }
    return "ok";
  }

  std::string text_{};
  std::vector<StepRecord> list_{};
  bool holds_ = true;
};
