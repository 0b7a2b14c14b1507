// Delays after failures.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

namespace dra {

/// A random source for delays, so that the nodes of a cluster do not act at the same time.
class Jitter {
 public:
  explicit Jitter(unsigned seed = std::random_device{}()) : random_{seed} {}

  /// A random time between `least` and `most` times another.
  std::chrono::milliseconds around(std::chrono::milliseconds time, double least, double most) {
    std::uniform_real_distribution<double> part{least, most};
    return std::chrono::milliseconds{static_cast<std::chrono::milliseconds::rep>(
        static_cast<double>(time.count()) * part(random_))};
  }

 private:
  std::minstd_rand random_;
};

/// Delays that double with each failure, from a second to five minutes, each between half and one
/// and a half of that.
class BackOff {
 public:
  static constexpr std::chrono::seconds first{1};
  static constexpr std::chrono::seconds longest{300};

  /// The delay after one more failure. Obeys a server that says when to come back, and spreads its
  /// clients over the same time again.
  std::chrono::milliseconds next(Jitter& jitter,
                                 std::optional<std::chrono::seconds> retry_after = {}) {
    auto delay = jitter.around(delay_, 0.5, 1.5);
    if (retry_after) delay = std::max(delay, jitter.around(*retry_after, 1, 2));
    delay_ = std::min<std::chrono::milliseconds>(2 * delay_, longest);
    return delay;
  }

  void reset() { delay_ = first; }

 private:
  std::chrono::milliseconds delay_{first};
};

}  // namespace dra
