// Keeps the node's ResourceSlices up to date in the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_API_SERVER_SLICE_PUBLISHER_HPP
#define CDI_TOOLS_DRA_API_SERVER_SLICE_PUBLISHER_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "back_off.hpp"
#include "slice_writer.hpp"

// A thread lists the slices when the kubelet registers the driver, and then every five minutes.
// There is no watch, because only two programs change these slices: this driver, and the kubelet,
// which removes them when it starts or when the driver is gone for 30 seconds, and then registers
// the driver again. A list costs the server little, because it has an index of the slices by node:
// 12 requests for each node and hour. A watch would be restarted 8 times, and would keep a
// connection and memory of the server.

namespace dra {

/// The reports of a publisher, called by its thread; neither may be empty.
struct PublisherEvents {
  std::function<void(const SlicesWritten&)> written{};  // only if something changed
  std::function<void(const cdi::Error&)> failed{};
};

/// When a publisher acts.
struct PublisherTimes {
  std::chrono::milliseconds check{std::chrono::minutes{5}};     // while nothing happens
  std::chrono::milliseconds confirm{std::chrono::seconds{30}};  // after registration, when a
                                                                // kubelet may still remove slices
  std::chrono::milliseconds quiet{std::chrono::seconds{1}};     // between two changes
};

/// Publishes in its own thread, from the first registration on. The destructor ends the thread. The
/// constructor throws `std::system_error` if no thread can be started.
class SlicePublisher {
 public:
  SlicePublisher(SliceWriter writer, PublisherEvents events, PublisherTimes times = {})
      : writer_{std::move(writer)}, events_{std::move(events)}, times_{times} {}

  SlicePublisher(const SlicePublisher&) = delete;
  SlicePublisher& operator=(const SlicePublisher&) = delete;

  ~SlicePublisher() {
    {
      const std::lock_guard lock{mutex_};
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// The kubelet has registered the driver: it may have removed the slices before.
  void registered() {
    const std::lock_guard lock{mutex_};
    is_registered_ = true;
    is_new_ = true;
    is_changed_ = true;
    back_off_.reset();
    not_before_ = {};
    changed_.notify_all();
  }

  /// The specs of the slices that the node has now.
  void set(std::vector<ApiJson> specs) {
    const std::lock_guard lock{mutex_};
    if (specs_ && *specs_ == specs) return;
    specs_ = std::move(specs);
    is_changed_ = true;
    changed_.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point next() const {
    if (!specs_ || !is_registered_) return Clock::time_point::max();
    return is_changed_ ? not_before_ : std::max(not_before_, check_at_);
  }

  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      while (!ends_ && next() > Clock::now()) wait(lock);
      if (ends_) return;
      act(lock);
    }
  }

  void wait(std::unique_lock<std::mutex>& lock) {
    // Not `max()`, which some implementations convert to a time in the past.
    constexpr std::chrono::hours long_time{1};
    changed_.wait_until(lock, std::min(next(), Clock::now() + long_time));
  }

  void act(std::unique_lock<std::mutex>& lock) {
    const auto specs = *specs_;
    if (is_new_) writer_.forget_features();
    const bool was_new = std::exchange(is_new_, false);
    is_changed_ = false;
    lock.unlock();
    SlicesWritten written;
    const auto failed = write(specs, written);
    report(failed, written);
    lock.lock();
    plan(failed, was_new);
  }

  /// An exception, which would end the program, counts as a failure: the server's answer may have
  /// needed too much memory.
  std::optional<ApiFailure> write(const std::vector<ApiJson>& specs, SlicesWritten& written) {
    try {
      auto failed = writer_.write(specs, written);
      // Reads the token again: it may have been replaced since.
      if (failed && failed->status == 401) failed = writer_.write(specs, written);
      return failed;
    } catch (const std::exception& error) {
      return ApiFailure{.error = {.code = cdi::Errc::system,
                                  .message = std::string{"cannot publish: "} + error.what()}};
    }
  }

  void report(const std::optional<ApiFailure>& failed, const SlicesWritten& written) const {
    try {
      if (!failed && written.changes > 0) events_.written(written);
      if (failed) events_.failed(failed->error);
    } catch (const std::exception&) {
      // There is not even memory for a log line.
    }
  }

  void plan(const std::optional<ApiFailure>& failed, bool was_new) {
    const auto now = Clock::now();
    if (failed && !is_new_) {
      is_changed_ = true;
      is_new_ = was_new;
      not_before_ = now + back_off_.next(jitter_, failed->retry_after);
      return;
    }
    if (failed) return;  // registered again in the meantime
    back_off_.reset();
    not_before_ = now + times_.quiet;
    check_at_ = now + jitter_.around(was_new ? times_.confirm : times_.check, 0.8, 1.2);
  }

  SliceWriter writer_;
  const PublisherEvents events_;
  const PublisherTimes times_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool ends_ = false;
  bool is_registered_ = false;
  bool is_new_ = false;      // the registration was not yet followed by a list
  bool is_changed_ = false;  // there is something to publish
  std::optional<std::vector<ApiJson>> specs_{};
  Clock::time_point not_before_{};
  Clock::time_point check_at_{};
  BackOff back_off_{};
  Jitter jitter_{};
  // The last member: it uses the others.
  std::thread thread_{[this] {
    run();
  }};
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_API_SERVER_SLICE_PUBLISHER_HPP
