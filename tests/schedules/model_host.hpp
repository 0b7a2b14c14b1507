// `ModelHost`: two processes on a host with model files, which run step by step.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "model_files.hpp"

namespace model {

/// What a step of a process does to others. A kill before a step that changes nothing is the same
/// as a kill before the next step.
enum class Effect : std::uint8_t {
  none,
  syncs,    // matters for a power cut only
  changes,  // files, devices, or what a caller knows
};

/// A process: a function with a stack of its own. A killed process runs on to its end without any
/// effect, so that it frees its memory: all its calls fail.
struct Process {
  std::function<void()> work{};
  ucontext_t context{};
  std::size_t steps_left = 0;
  std::vector<Effect> steps{};  // since it was resumed
  bool started = false;
  bool ended = false;
  bool killed = false;
};

/// A host with two processes. A step is a call that reads or changes what both can see.
class ModelHost {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  static constexpr int nobody = -1;  // set-up and recovery, whose steps are not counted

  ModelFiles files{};
  int running = nobody;
  bool traces = false;
  std::string trace{};       ///< the steps, one a line
  std::size_t now = 0;       ///< steps until now
  std::uint32_t random = 0;  ///< the last number that `getrandom` gave

  ModelHost() = default;
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  bool has_ended(int process) const { return at(process).ended; }

  /// The next step of the running process. Waits until the explorer permits it; false if the
  /// process was killed instead, and the step must not happen.
  bool step(Effect effect, std::string_view call, std::string_view what = {}) {
    if (running == nobody) return true;
    auto& process = at(running);
    if (process.steps_left == 0 && !process.killed) stop();
    if (process.killed) return false;
    --process.steps_left;
    process.steps.push_back(effect);
    ++now;
    if (traces) note(std::string{running == 0 ? "A " : "B "}.append(call).append(" ").append(what));
    return true;
  }

  void note(std::string_view event) {
    if (traces) trace.append(event) += '\n';
  }

  /// The running process waits, for example for a lock: the other one goes on.
  void wait(std::int64_t milliseconds) {
    files.clock += milliseconds;
    if (running != nobody && !at(running).killed) stop();
  }

  void set_work(int process, std::function<void()> work) { at(process).work = std::move(work); }

  /// Lets a process do some steps. It stops earlier if it waits or ends. Returns its steps.
  std::vector<Effect> resume(int number, std::size_t steps) {
    auto& process = at(number);
    process.steps.clear();
    process.steps_left = steps;
    if (process.ended) return {};
    running = number;
    if (!process.started) start(process);
    ::swapcontext(&explorer_, &process.context);
    running = nobody;
    return std::exchange(process.steps, {});
  }

  void kill(int number) {
    auto& process = at(number);
    files.close_all(number);
    process.killed = true;
    if (!process.started) process.ended = true;
    while (!process.ended) resume(number, no_limit);
  }

  void cut_power(Left left) {
    files.cut_power(left);
    for (const int process : {0, 1}) kill(process);
  }

 private:
  static constexpr std::size_t stack_size = std::size_t{1} << 20;

  Process& at(int process) { return processes_[static_cast<std::size_t>(process)]; }
  const Process& at(int process) const { return processes_[static_cast<std::size_t>(process)]; }

  /// Lets the explorer go on. Each process has its own `errno`.
  void stop() {
    const int own = errno;
    ::swapcontext(&at(running).context, &explorer_);
    errno = own;
  }

  static std::vector<char>& stack_of(int process) {
    static std::array<std::vector<char>, 2> stacks{std::vector<char>(stack_size),
                                                   std::vector<char>(stack_size)};
    return stacks[static_cast<std::size_t>(process)];
  }

  void start(Process& process);

  std::array<Process, 2> processes_{};
  ucontext_t explorer_{};
};

/// The host that system calls of this program go to; null for the real one.
inline ModelHost* host = nullptr;

inline void ModelHost::start(Process& process) {
  process.started = true;
  ::getcontext(&process.context);
  auto& stack = stack_of(running);
  process.context.uc_stack.ss_sp = stack.data();
  process.context.uc_stack.ss_size = stack.size();
  process.context.uc_link = &explorer_;
  constexpr auto run = [] {
    auto& its = host->at(host->running);
    its.work();
    its.ended = true;
  };
  ::makecontext(&process.context, +run, 0);
}

}  // namespace model
