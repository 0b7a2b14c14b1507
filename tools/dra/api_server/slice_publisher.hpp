// Keeps the node's ResourceSlices up to date in the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

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

  ~SlicePublisher();

  /// The kubelet has registered the driver: it may have removed the slices before.
  void registered();

  /// The specs of the slices that the node has now.
  void set(std::vector<ApiJson> specs);

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point next() const;

  void run();

  void wait(std::unique_lock<std::mutex>& lock);

  void act(std::unique_lock<std::mutex>& lock);

  /// An exception, which would end the program, counts as a failure: the server's answer may have
  /// needed too much memory.
  std::optional<ApiFailure> write(const std::vector<ApiJson>& specs, SlicesWritten& written);

  void report(const std::optional<ApiFailure>& failed, const SlicesWritten& written) const;

  void plan(const std::optional<ApiFailure>& failed, bool was_new);

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
