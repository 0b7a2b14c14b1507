// Records the steps from a claim to a container, and what they lack.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_POD_STEPS_HPP
#define CDI_TOOLS_CDI_WHY_POD_STEPS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../base/output.hpp"

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
    const auto state = step.state == State::unknown ? "not-checked" : name;
    Json record{{"step", step.part}, {"state", state}, {"message", step.message}};
    if (!step.file.empty()) record["file"] = step.file;
    if (!step.advice.empty()) record["advice"] = step.advice;
    list_.push_back(std::move(record));
    holds_ = holds_ && (step.state == State::ok || step.state == State::unknown);
  }

  /// Adds text of another answer, after the steps so far.
  void add_text(std::string_view text) { text_ += text; }

  const std::string& text() const { return text_; }
  const Json& list() const { return list_; }

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
  Json list_ = Json::array();
  bool holds_ = true;
};

#endif  // CDI_TOOLS_CDI_WHY_POD_STEPS_HPP
