// Runs work that may wait, in threads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dra {

/// At most 16 threads, started when there is work. The destructor waits for all work.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  ~Workers() {
    {
      const std::lock_guard lock{mutex_};
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  /// Returns false if there is no thread and none can be started, or without memory. An exception
  /// ends only the work.
  bool run(std::function<void()> work) {
    const std::lock_guard lock{mutex_};
    if (idle_ <= work_.size() && threads_.size() < most) add_thread();
    if (threads_.empty()) return false;
    try {
      work_.push_back(std::move(work));
    } catch (const std::exception&) {
      return false;
    }
    changed_.notify_one();
    return true;
  }

 private:
  static constexpr std::size_t most = 16;

  void add_thread() {
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      // The existing threads do more.
    }
  }

  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      ++idle_;
      changed_.wait(lock, [this] { return ends_ || !work_.empty(); });
      --idle_;
      if (work_.empty()) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      try {
        work();
      } catch (const std::exception&) {
        // The work has answered, or lacked the memory to answer.
      }
      lock.lock();
    }
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::function<void()>> work_{};
  std::vector<std::thread> threads_{};
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace dra
