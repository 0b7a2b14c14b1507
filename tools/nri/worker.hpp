// Runs work that may hang in a thread of its own, with a time limit.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace nri {

/// The outcome of a job within its time limit.
enum class JobEnd : std::uint8_t {
  done,
  late,       ///< it still runs
  not_begun,  ///< an earlier job still runs
};

/// Runs jobs in a thread of its own, one after the other, so that a hanging file system blocks only
/// this thread.
class Worker {
 public:
  Worker() : shared_{std::make_shared<Shared>()} { std::thread{run, shared_}.detach(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Ends the thread after its current job, and does not wait for it.
  ~Worker() {
    const std::lock_guard lock{shared_->mutex};
    shared_->ended = true;
    shared_->changed.notify_all();
  }

  /// Runs a job once an earlier one has ended, and waits for it, at most for `limit` in total. A
  /// job that has not begun by then is not run. The job must own everything it uses.
  JobEnd run_within(std::chrono::milliseconds limit, std::function<void()> job) {
    const auto end = std::chrono::steady_clock::now() + limit;
    const auto is_free = [this] {
      return !shared_->job;
    };
    std::unique_lock lock{shared_->mutex};
    if (!shared_->changed.wait_until(lock, end, is_free)) return JobEnd::not_begun;
    shared_->job = std::move(job);
    shared_->changed.notify_all();
    return shared_->changed.wait_until(lock, end, is_free) ? JobEnd::done : JobEnd::late;
  }

 private:
  struct Shared {
    std::mutex mutex{};
    std::condition_variable changed{};
    std::function<void()> job{};  // empty after its end
    bool ended = false;
  };

  static void run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock{shared->mutex};
    while (true) {
      shared->changed.wait(lock, [&shared] { return shared->ended || shared->job; });
      if (shared->ended) return;
      lock.unlock();
      shared->job();
      lock.lock();
      shared->job = nullptr;
      shared->changed.notify_all();
    }
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace nri
