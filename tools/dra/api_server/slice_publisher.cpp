// Keeps the node's ResourceSlices up to date in the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "slice_publisher.hpp"

#include <algorithm>
#include <exception>
#include <string>

namespace dra {

SlicePublisher::~SlicePublisher() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SlicePublisher::registered() {
  const std::lock_guard lock{mutex_};
  is_registered_ = true;
  is_new_ = true;
  is_changed_ = true;
  back_off_.reset();
  not_before_ = {};
  changed_.notify_all();
}

void SlicePublisher::set(std::vector<ApiJson> specs) {
  const std::lock_guard lock{mutex_};
  if (specs_ && *specs_ == specs) return;
  specs_ = std::move(specs);
  is_changed_ = true;
  changed_.notify_all();
}

SlicePublisher::Clock::time_point SlicePublisher::next() const {
  if (!specs_ || !is_registered_) return Clock::time_point::max();
  return is_changed_ ? not_before_ : std::max(not_before_, check_at_);
}

void SlicePublisher::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    while (!ends_ && next() > Clock::now()) wait(lock);
    if (ends_) return;
    act(lock);
  }
}

void SlicePublisher::wait(std::unique_lock<std::mutex>& lock) {
  // Not `max()`, which some implementations convert to a time in the past.
  constexpr std::chrono::hours long_time{1};
  changed_.wait_until(lock, std::min(next(), Clock::now() + long_time));
}

void SlicePublisher::act(std::unique_lock<std::mutex>& lock) {
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

std::optional<ApiFailure> SlicePublisher::write(const std::vector<ApiJson>& specs,
                                                SlicesWritten& written) {
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

void SlicePublisher::report(const std::optional<ApiFailure>& failed,
                            const SlicesWritten& written) const {
  try {
    if (!failed && written.changes > 0) events_.written(written);
    if (failed) events_.failed(failed->error);
  } catch (const std::exception&) {
    // There is not even memory for a log line.
  }
}

void SlicePublisher::plan(const std::optional<ApiFailure>& failed, bool was_new) {
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

}  // namespace dra
